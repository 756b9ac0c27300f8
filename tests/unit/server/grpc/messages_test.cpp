#include "protocol/grpc/schema.h"

#include <doctest/doctest.h>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/base64.h"
#include "base/clock.h"
#include "json/document.h"
#include "server/grpc/base64_files.h"
#include "server/grpc/read_requests.h"
#include "server/grpc/write_answers.h"
#include "unit/protocol/a2a/dialect_bench.h"

namespace baton::server::grpc::messages_test {
namespace {

// Converts JSON to message bytes and back to JSON.
std::string there_and_back(const std::string& message, const std::string& json) {
  const protocol::grpc::MessageSchema schema;
  const protocol::grpc::ProtoJson messages(schema);
  const auto bytes = messages.to_bytes(message, json);
  REQUIRE(bytes.has_value());
  const auto back = messages.to_json(message, *bytes);
  REQUIRE(back.has_value());
  return *back;
}

TEST_CASE("ProtoJSON: an old and a new task are converted and read back unchanged") {
  const std::string old =
      R"({"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELLED","message":{"messageId":"m","role":"ROLE_AGENT","content":[{"data":{"data":{"n":null,"d":1.5}}}]},"timestamp":"2025-05-01T10:00:00Z"},"artifacts":[{"artifactId":"a1","parts":[{"file":{"fileWithBytes":"aGk=","mimeType":"text/plain","name":"a.txt"}}]}]})";
  CHECK(there_and_back("a2a.v1.Task", old) == old);
  const std::string now =
      R"({"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELED","timestamp":"2025-05-01T10:00:00.500Z"},"artifacts":[{"artifactId":"a1","parts":[{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"},{"data":null},{"data":[1,"x",{"y":true}]}]}]})";
  CHECK(there_and_back("lf.a2a.v1.Task", now) == now);
}

TEST_CASE("ProtoJSON: unknown members are left out, and invalid messages are refused") {
  CHECK(there_and_back("lf.a2a.v1.GetTaskRequest", R"({"id":"t","historyLength":0,"else":{"a":[1]}})") ==
        R"({"id":"t","historyLength":0})");
  CHECK(there_and_back("google.protobuf.Empty", "{}") == "{}");
  const protocol::grpc::MessageSchema schema;
  const protocol::grpc::ProtoJson messages(schema);
  CHECK(!messages.to_bytes("lf.a2a.v1.Task", R"({"id":[1]})"));
  CHECK(!messages.to_bytes("lf.a2a.v1.Task", "no JSON"));
  CHECK(!messages.to_json("lf.a2a.v1.Task", "\xff\xff\xff"));
  CHECK(!messages.to_json("lf.a2a.v1.Task",
                          "\x0a\x05"
                          "abc"));                                 // cut off
  CHECK(!messages.to_json("lf.a2a.v1.Task", "\x0a\x02\xc3\x28"));  // not UTF-8
  CHECK(!messages.to_json("lf.a2a.v1.Nothing", ""));
}

TEST_CASE("ProtoJSON: values that protobuf cannot hold are changed, so that task and list stay readable") {
  const auto task = [](const std::string& data) {
    return R"({"id":"t","history":[{"messageId":"m","parts":[{"data":)" + data +
           R"(},{"text":"\u0001\"é"}]}]})";
  };
  const auto is_said_as = [&](const std::string& data, const std::string& said) {
    CAPTURE(data.substr(0, 40));
    CHECK(there_and_back("lf.a2a.v1.Task", task(data)) == task(said));
    CHECK(there_and_back("lf.a2a.v1.ListTasksResponse", R"({"tasks":[)" + task(data) + "]}") ==
          R"({"tasks":[)" + task(said) + "]}");
  };
  is_said_as(R"({"a":1,"a":2})", R"({"a":2})");
  is_said_as(R"({"a":{"b":1},"c":[null,true],"\u0061":[3]})", R"({"c":[null,true],"a":[3]})");
  is_said_as("1e999", R"("1e999")");
  is_said_as(R"([-1e999,1.5,{"n":1e999}])", R"(["-1e999",1.5,{"n":"1e999"}])");
  const std::string digits(400, '9');
  is_said_as(digits, '"' + digits + '"');
  is_said_as("[1e-999,1e999]", R"([0,"1e999"])");
}

TEST_CASE("ProtoJSON: values nested too deeply for protobuf become strings") {
  std::string deep = "1";
  for (int i = 0; i < 99; ++i) deep = R"({"a":)" + deep + "}";
  const std::string said =
      there_and_back("lf.a2a.v1.Task", R"({"history":[{"parts":[{"data":)" + deep + "}]}]}");
  CHECK(said.find(R"({"a":{"a":"{\"a\":{\"a\":)") != std::string::npos);
}

TEST_CASE("ProtoJSON: an error does not quote the text") {
  const protocol::grpc::MessageSchema schema;
  const auto failed = protocol::grpc::ProtoJson(schema).to_bytes("lf.a2a.v1.Task", R"({"id":["secret"]})");
  REQUIRE(!failed);
  CHECK(failed.error().for_log == "no lf.a2a.v1.Task");
  CHECK(failed.error().for_caller.find("secret") == std::string::npos);
}

TEST_CASE("ProtoJSON: the details of a status are read back with their own types") {
  const std::string status =
      R"({"code":5,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","domain":"d","metadata":{"k":"v"}},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"f","description":"x"}]}]})";
  CHECK(there_and_back("google.rpc.Status", status) == status);
}

// Messages must be read and written exactly as the JSON dialect of the same version does it.

const protocol::grpc::MessageSchema& schema() {
  static const protocol::grpc::MessageSchema read;
  return read;
}

std::unique_ptr<pb::Message> message_of(const std::string& name, const std::string& json) {
  const auto bytes = protocol::grpc::ProtoJson(schema()).to_bytes(name, json);
  REQUIRE_MESSAGE(bytes, json);
  return std::move(*schema().parse(name, *bytes));
}

base::Result<server::a2a::Request> read(const std::string& path, const std::string& json,
                                        bool files_are_text = false) {
  const protocol::grpc::Method* method = protocol::grpc::find_method(path);
  REQUIRE(method);
  const auto message = message_of(method->request_message(), json);
  return read_request(*method, Reading(*message), files_are_text);
}

template <class T>
T value(const std::string& path, const std::string& json) {
  auto request = read(path, json);
  REQUIRE_MESSAGE(request, request.error().for_caller);
  return std::get<T>(std::move(*request));
}

std::string error(const std::string& path, const std::string& json) {
  const auto request = read(path, json);
  return request ? "" : request.error().for_caller;
}

const std::string kOld = "/a2a.v1.A2AService/", kNow = "/lf.a2a.v1.A2AService/";

std::string bytes_in_order(const pb::Message& message) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

void check_same(const pb::Message& written, const std::string& name, const std::string& json) {
  CAPTURE(json);
  CHECK(bytes_in_order(written) == bytes_in_order(*message_of(name, json)));
}

void check_send(const std::string& path, const protocol::a2a::Dialect& dialect, const std::string& json) {
  CAPTURE(json);
  const auto got = value<protocol::a2a::SendRequest>(path, json);
  const auto document = test::parsed(json);
  const auto wanted = test::value_of(dialect.read_send(document.root()));
  CHECK(got.submission.message == wanted.submission.message);
  CHECK(got.submission.task == wanted.submission.task);
  CHECK(got.submission.context == wanted.submission.context);
  CHECK(got.submission.metadata == wanted.submission.metadata);
  CHECK(got.submission.origin == wanted.submission.origin);
  CHECK(got.submission.accepted_output_modes == wanted.submission.accepted_output_modes);
  CHECK(got.waits == wanted.waits);
  CHECK(got.history_length == wanted.history_length);
  CHECK(got.numbers.every == wanted.numbers.every);
  REQUIRE(got.submission.push.has_value() == wanted.submission.push.has_value());
  if (!got.submission.push) return;
  CHECK(got.submission.push->id == wanted.submission.push->id);
  CHECK(got.submission.push->url == wanted.submission.push->url);
  CHECK(got.submission.push->schemes == wanted.submission.push->schemes);
  CHECK(got.submission.push->credentials == wanted.submission.push->credentials);
  CHECK(got.submission.push->version == wanted.submission.push->version);
}

TEST_CASE("gRPC requests: a send is read like its JSON") {
  const std::string now =
      R"({"message":{"messageId":"m","role":"ROLE_USER","taskId":"t","contextId":"c","extensions":["e"],"referenceTaskIds":["r"],"metadata":{"a":{"b":[1,2.5,"x",null,true]}},"parts":[{"text":""},{"raw":"aGk=","filename":"f","mediaType":"a/b"},{"url":"http://x/"},{"data":null},{"data":[1,{"y":-0.1}],"metadata":{"k":1e+30}}]})";
  check_send(kNow + "SendMessage", protocol::a2a::v1_0(), now + "}");
  check_send(
      kNow + "SendMessage", protocol::a2a::v1_0(),
      now +
          R"(,"metadata":{"urn:baton:a2a:1":{"eventNumbers":true},"x":1},"configuration":{"historyLength":0,"returnImmediately":true,"acceptedOutputModes":["text/plain"],"taskPushNotificationConfig":{"id":"i","url":"http://h/","authentication":{"scheme":"Basic","credentials":"y"}}}})");
  const std::string old =
      R"({"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"c","metadata":{},"content":[{"text":"x"},{"data":{"data":{"b":1}},"metadata":{"m":2}},{"data":{"data":{"value":[1]}},"metadata":{"data_part_compat":true}},{"data":{"data":{"value":[1]}}},{"file":{"fileWithBytes":"aGk=","mimeType":"a/b","name":"f"}},{"file":{"fileWithUri":"http://x/"}}]})";
  check_send(kOld + "SendMessage", protocol::a2a::v0_3_rest(), old + "}");
  for (
      const char* configuration :
      {R"({"historyLength":2})",
       R"({"blocking":true,"pushNotification":{"url":"http://h/","authentication":{"schemes":["A","B"]}}})"}) {
    check_send(kOld + "SendStreamingMessage", protocol::a2a::v0_3_rest(),
               old + R"(,"configuration":)" + configuration + "}");
  }
}

// The bytes of the file in the first part of a 0.3 message's list of parts.
std::string file_in(const Reading& owner, const char* parts) {
  return owner.at(parts, 0).child("file").text("file_with_bytes");
}

TEST_CASE("gRPC files: each SDK of 0.3 sends and gets files in its own form") {
  const std::string bytes("\x00\xff of a picture", 15);
  const std::string text = base::encode_base64(bytes);
  struct Sdk {
    const char* user_agent;
    const std::string& on_the_wire;
  };
  for (const Sdk& sdk : {Sdk{"grpc-python-asyncio/1.60.0 grpc-c/37.0.0 (linux; chttp2)", text},
                         {"grpc-python/1.51.1 grpc-c/29.0.0 (linux; chttp2)", text},
                         {"grpc-go/1.60.0", text},
                         {"grpc-java-netty/1.60.0", text},
                         {"grpc-node-js/1.10.0", bytes},
                         {"grpc-c++/1.51.1 grpc-c/29.0.0 (linux; chttp2)", bytes}}) {
    CAPTURE(sdk.user_agent);
    const bool are_text = has_base64_text(sdk.user_agent);
    const auto request =
        read(kOld + "SendMessage",
             R"({"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithBytes":")" +
                 base::encode_base64(sdk.on_the_wire) + R"("}}]}})",
             are_text);
    REQUIRE(request);
    task::Task task = test::rich_task(task::State::completed);
    task.history = {std::get<protocol::a2a::SendRequest>(*request).submission.message};
    CHECK(task.history[0].parts[0].content == text);
    task.artifacts.resize(1);
    task.artifacts[0].parts = task.history[0].parts;
    const protocol::grpc::Method* method = protocol::grpc::find_method(kOld + "GetTask");
    const auto got = schema().make(method->full(method->response));
    write_answer(*method, Writing(*got), server::a2a::TaskAnswer{task}, are_text);
    CHECK(file_in(Reading(*got).at("history", 0), "content") == sdk.on_the_wire);
    CHECK(file_in(Reading(*got).at("artifacts", 0), "parts") == sdk.on_the_wire);
    const auto first = schema().make("a2a.v1.StreamResponse"), later = schema().make("a2a.v1.StreamResponse");
    write_item(task::ProtocolVersion::v0_3, Writing(*first), task, are_text);
    CHECK(file_in(Reading(*first).child("task").at("artifacts", 0), "parts") == sdk.on_the_wire);
    const task::Event event{{5}, base::from_ms(5), task::ArtifactChunk{task.artifacts[0], false, true}};
    REQUIRE(write_event(task::ProtocolVersion::v0_3, Writing(*later), {{"t"}, {"c"}}, event,
                        {true, task::EventNumber{3}}, are_text));
    CHECK(file_in(Reading(*later).child("artifact_update").child("artifact"), "parts") == sdk.on_the_wire);
  }
}

TEST_CASE("gRPC files: the content never decides its encoding") {
  const auto sent = [](const std::string& field, bool are_text) {
    const auto request =
        read(kOld + "SendMessage",
             R"({"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithBytes":")" +
                 base::encode_base64(field) + R"("}}]}})",
             are_text);
    return request ? std::get<protocol::a2a::SendRequest>(*request).submission.message.parts[0].content
                   : request.error().for_caller;
  };
  CHECK(sent("aGk=", true) == "aGk=");
  CHECK(sent("aGk=", false) == base::encode_base64("aGk="));
  CHECK(sent("plain text", true) ==
        "message.content[0].file.fileWithBytes: must be base64 text, as the A2A 0.3 SDKs for this client's "
        "language send it");
}

TEST_CASE("gRPC requests: errors name the member as in JSON") {
  const auto sent = [](const char* message, const char* more = "") {
    return error(kNow + "SendMessage", R"({"message":)" + std::string(message) + more + "}");
  };
  CHECK(error(kNow + "SendMessage", "{}") == "message: is missing");
  CHECK(sent(R"({"messageId":"m","role":"ROLE_USER"})") == "message.parts: must have at least one part");
  CHECK(sent(R"({"parts":[{"text":"x"},{}]})") ==
        "message.parts[1]: exactly one of text, raw, url and data is required");
  CHECK(sent(R"({"role":"ROLE_USER","parts":[{"text":"x"}]})") == "message.messageId: must not be empty");
  CHECK(sent(R"({"messageId":"m","parts":[{"text":"x"}]})") ==
        "message.role: must be ROLE_USER or ROLE_AGENT");
  const std::string good = R"({"messageId":"m","role":1,"parts":[{"text":"x"}]})";
  CHECK(sent(good.c_str(), R"(,"configuration":{"historyLength":-1})") ==
        "configuration.historyLength: must be a whole number of at least 0");
  CHECK(sent(good.c_str(), R"(,"configuration":{"taskPushNotificationConfig":{"url":"x"}})") ==
        "configuration.taskPushNotificationConfig.url: must be an http or https URL");
  CHECK(error(kNow + "GetTask", R"({"id":")" + std::string(257, 'x') + R"("})") ==
        "id: must not be longer than 256 bytes");
  CHECK(error(kOld + "SendMessage", R"({"message":{"messageId":"m","role":1,"content":[{"file":{}}]}})") ==
        "message.content[0].file: exactly one of fileWithBytes and fileWithUri is required");
  CHECK(error(kNow + "ListTasks", R"({"pageSize":101})") == "pageSize: must be a whole number from 1 to 100");
  CHECK(error(kNow + "ListTasks", R"({"pageToken":"x"})") == "pageToken: is invalid; start again without it");
}

TEST_CASE("gRPC requests: 0.3 names resources, 1.0 has ids") {
  using protocol::a2a::PushRef;
  using protocol::a2a::TaskRequest;
  CHECK(value<TaskRequest>(kOld + "GetTask", R"({"name":"tasks/a:b"})").id.value == "a:b");
  CHECK(value<TaskRequest>(kOld + "GetTask", R"({"name":"tasks/t","historyLength":0})").history_length ==
        std::nullopt);
  CHECK(value<TaskRequest>(kNow + "GetTask", R"({"id":"a/b","historyLength":0})").history_length == 0);
  CHECK(value<TaskRequest>(kOld + "GetTask", R"({"name":"tasks/a/b"})").id.value == "a/b");
  for (const char* name : {"t1", "tasks", "tasks/", "tasks//pushNotificationConfigs/c"}) {
    CAPTURE(name);
    CHECK(error(kOld + "CancelTask", R"({"name":")" + std::string(name) + R"("})") ==
          "name: must be tasks/{id}");
  }
  const auto config = value<PushRef>(kOld + "DeleteTaskPushNotificationConfig",
                                     R"({"name":"tasks/t/pushNotificationConfigs/c"})");
  CHECK(config.task.value == "t");
  CHECK(config.config.value == "c");
  const auto slashes = value<PushRef>(kOld + "GetTaskPushNotificationConfig",
                                      R"({"name":"tasks/a/b/pushNotificationConfigs/c/d"})");
  CHECK(slashes.task.value == "a/b");
  CHECK(slashes.config.value == "c/d");
  CHECK(value<PushRef>(kOld + "GetTaskPushNotificationConfig",
                       R"({"name":"tasks/t/pushNotificationConfigs/pushNotificationConfigs"})")
            .config.value == "pushNotificationConfigs");
  CHECK(error(kOld + "GetTaskPushNotificationConfig", R"({"name":"tasks/t/pushNotificationConfigs/"})") ==
        "name: must be tasks/{id}/pushNotificationConfigs/{id}");
  CHECK(value<PushRef>(kOld + "ListTaskPushNotificationConfig",
                       R"({"parent":"tasks/t/pushNotificationConfigs"})")
            .task.value == "t");
  const auto page = value<PushRef>(kNow + "ListTaskPushNotificationConfigs",
                                   R"({"taskId":"t","pageSize":2,"pageToken":"x"})");
  CHECK(page.page_size == 2);
  CHECK(page.page_token == "x");
  CHECK(error(kNow + "ListTaskPushNotificationConfigs", R"({"taskId":"t","pageSize":-1})") ==
        "pageSize: must be a whole number of at least 0");
  CHECK(error(kNow + "GetTask", "{}") == "id: must not be empty");
  CHECK(error(kNow + "GetTaskPushNotificationConfig", R"({"id":"c"})") == "taskId: must not be empty");
  CHECK(error(kNow + "GetTaskPushNotificationConfig", R"({"taskId":"t"})") == "id: must not be empty");
  const auto push = value<protocol::a2a::PushRequest>(
      kOld + "CreateTaskPushNotificationConfig",
      R"({"parent":"tasks/t","configId":"c","config":{"pushNotificationConfig":{"url":"http://h/"}}})");
  CHECK(push.task.value == "t");
  CHECK(push.config.id.value == "c");
}

TEST_CASE("gRPC requests: a list's filter is read") {
  const auto list = value<protocol::a2a::ListRequest>(
      kNow + "ListTasks",
      R"({"contextId":"c","status":"TASK_STATE_CANCELED","pageSize":5,"historyLength":2,"includeArtifacts":true,"statusTimestampAfter":"2026-01-31T10:00:00.0001Z"})");
  CHECK(list.filter.context.value == "c");
  CHECK(list.filter.state == task::State::canceled);
  CHECK(list.filter.limit == 5);
  CHECK(list.depth.history == 2);
  CHECK(list.depth.artifacts);
  CHECK(list.filter.status_since == base::parse_rfc3339("2026-01-31T10:00:00.001Z"));
}

TEST_CASE("gRPC answers: each is the message equivalent to the dialect's JSON") {
  for (const bool is_v1 : {false, true}) {
    CAPTURE(is_v1);
    const auto& dialect = is_v1 ? protocol::a2a::v1_0() : protocol::a2a::v0_3_rest();
    const auto check = [&](const std::string& name, const server::a2a::Answer& answer, const auto& write) {
      const protocol::grpc::Method* method = protocol::grpc::find_method((is_v1 ? kNow : kOld) + name);
      const auto message = schema().make(method->full(method->response));
      write_answer(*method, Writing(*message), answer);
      check_same(*message, method->full(method->response), test::written(write));
    };
    task::Task task = test::rich_task(task::State::canceled);
    check("GetTask", server::a2a::TaskAnswer{task}, [&](auto& out) { dialect.write_task(out, task); });
    check("SendMessage", server::a2a::SentAnswer{task}, [&](auto& out) { dialect.write_sent(out, task); });
    task.hidden = true;
    check("SendMessage", server::a2a::SentAnswer{task}, [&](auto& out) { dialect.write_message(out, task); });
    task::PushConfig config;
    config.id.value = "c";
    config.url = "http://h/";
    config.token = "k";
    config.schemes = {"A", "B"};
    config.credentials = "s";
    check("CreateTaskPushNotificationConfig", server::a2a::PushAnswer{{"t"}, config},
          [&](auto& out) { dialect.write_push(out, {"t"}, config); });
    check(is_v1 ? "ListTaskPushNotificationConfigs" : "ListTaskPushNotificationConfig",
          server::a2a::PushesAnswer{{"t"}, {config, {}}}, [&](auto& out) {
            dialect.write_pushes(out, {"t"}, {config, {}});
          });
    if (!is_v1) continue;
    protocol::a2a::ListRequest request;
    request.depth.artifacts = false;
    const task::ListPosition next{base::from_ms(5), {"t"}};
    check("ListTasks", server::a2a::ListAnswer{request, {{task}, 7, next}},
          [&](auto& out) { dialect.write_list(out, request, {task}, next, 7); });
  }
}

TEST_CASE("gRPC streams: each item is the message equivalent to the dialect's JSON") {
  const std::vector<task::EventBody> bodies{
      task::StatusChanged{{task::State::completed, test::rich_message(task::Role::agent), base::from_ms(-1)},
                          {R"({"progress":0.4})"}},
      task::TextDelta{{"r"}, 0, "x", true, true},
      task::TextDelta{{"r"}, 0, "x", true, true, true},
      task::ArtifactChunk{test::rich_artifact(), true, false},
      task::ToolCall{"i", "n", {R"({"a":1})"}},
      task::MessageAdded{test::rich_message(task::Role::user)},
  };
  for (const auto version : {task::ProtocolVersion::v0_3, task::ProtocolVersion::v1_0}) {
    const bool is_v1 = version == task::ProtocolVersion::v1_0;
    const auto& dialect = is_v1 ? protocol::a2a::v1_0() : protocol::a2a::v0_3_rest();
    const std::string name = is_v1 ? "lf.a2a.v1.StreamResponse" : "a2a.v1.StreamResponse";
    const task::Task task = test::rich_task(task::State::working);
    const auto first = schema().make(name);
    write_item(version, Writing(*first), task);
    check_same(*first, name, test::written([&](auto& out) { dialect.write_first(out, task, false); }));
    for (const task::EventBody& body : bodies) {
      const protocol::a2a::InStream place{true, task::EventNumber{3}};
      const task::Event event{{5}, base::from_ms(5), body};
      const auto item = schema().make(name);
      const bool shown = write_event(version, Writing(*item), {{"t"}, {"c"}}, event, place);
      bool said = false;
      const std::string json = test::written([&](auto& out) {
        said = dialect.write_event(out, {{"t"}, {"c"}}, event, place);
      });
      REQUIRE(shown == said);
      if (shown) check_same(*item, name, json);
    }
  }
}

}  // namespace
}  // namespace baton::server::grpc::messages_test
