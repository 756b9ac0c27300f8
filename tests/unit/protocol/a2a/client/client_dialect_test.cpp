#include "protocol/a2a/client/client_dialect.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/protocol/a2a/dialect_bench.h"

namespace baton::protocol::a2a::client_dialect_test {
namespace {

using task::ProtocolVersion;
using task::State;
using test::parsed;
using test::value_of;

const ClientDialect& old() {
  static const ClientDialectPtr dialect = client_dialect(ProtocolVersion::v0_1, Binding::json_rpc);
  return *dialect;
}
const ClientDialect& rpc_v0_3() {
  static const ClientDialectPtr dialect = client_dialect(ProtocolVersion::v0_3, Binding::json_rpc);
  return *dialect;
}
const ClientDialect& rest_v0_3() {
  static const ClientDialectPtr dialect = client_dialect(ProtocolVersion::v0_3, Binding::rest);
  return *dialect;
}
const ClientDialect& v1() {
  static const ClientDialectPtr dialect = client_dialect(ProtocolVersion::v1_0, Binding::json_rpc);
  return *dialect;
}

template <class T>
T update_of(const ClientDialect& dialect, const std::string& text) {
  const json::Document document = parsed(text);
  auto update = value_of(dialect.read_update(document.root()));
  REQUIRE(std::holds_alternative<T>(update));
  return std::get<T>(std::move(update));
}

SendRequest text_send() {
  SendRequest send;
  send.submission.message.id.value = "m1";
  send.submission.message.parts = {task::Part::of_text("hi \"you\"")};
  return send;
}

TEST_CASE("Client dialects: each version has JSON-RPC, REST begins with 0.2, gRPC is none of them") {
  for (const auto version :
       {ProtocolVersion::v0_1, ProtocolVersion::v0_2, ProtocolVersion::v0_3, ProtocolVersion::v1_0}) {
    CHECK(client_dialect(version, Binding::json_rpc)->version() == version);
    CHECK((client_dialect(version, Binding::rest) != nullptr) == (version != ProtocolVersion::v0_1));
    CHECK(client_dialect(version, Binding::grpc) == nullptr);
    CHECK(client_dialect(version, Binding::json_rpc)->names_tasks() == (version == ProtocolVersion::v0_1));
  }
}

TEST_CASE("Client dialects: the same send in every encoding") {
  SendRequest send = text_send();
  send.submission.task.value = "t1";
  CHECK(
      old().write_send(send, true).body ==
      R"({"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"t1","message":{"role":"user",)"
      R"("parts":[{"type":"text","text":"hi \"you\""}]},"historyLength":0}})");
  CHECK(rpc_v0_3().write_send(send, true).body ==
        R"({"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message",)"
        R"("messageId":"m1","role":"user","taskId":"t1","parts":[{"kind":"text","text":"hi \"you\""}]},)"
        R"("configuration":{"acceptedOutputModes":[],"historyLength":0}}})");
  CHECK(
      v1().write_send(send, false).body ==
      R"({"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","taskId":"t1",)"
      R"("role":"ROLE_USER","parts":[{"text":"hi \"you\""}]},"configuration":{"historyLength":0}}})");
  const ClientRequest rest = rest_v0_3().write_send(send, false);
  CHECK(rest.path == "/v1/message:send");
  CHECK(rest.body == R"({"message":{"messageId":"m1","taskId":"t1","role":"ROLE_USER",)"
                     R"("content":[{"text":"hi \"you\""}]}})");
}

TEST_CASE("Client dialects: REST encodes ids in paths so that no id changes the path") {
  const auto v1_rest = client_dialect(ProtocolVersion::v1_0, Binding::rest, "a/b");
  const task::TaskId evil{"a/../b:cancel?x"};
  CHECK(v1_rest->write_get({evil, 3, true, {}, {}}).path ==
        "/a%2Fb/tasks/a%2F..%2Fb%3Acancel%3Fx?historyLength=3");
  CHECK(v1_rest->write_get({evil, 3, true, {}, {}}).method == "GET");
  CHECK(v1_rest->write_cancel(evil).path == "/a%2Fb/tasks/a%2F..%2Fb%3Acancel%3Fx:cancel");
  CHECK(v1_rest->write_subscribe({"t"}).path == "/a%2Fb/tasks/t:subscribe");
  CHECK(v1_rest->write_delete_push({{"t"}, {"p/q"}})->method == "DELETE");
  CHECK(v1_rest->write_delete_push({{"t"}, {"p/q"}})->path == "/a%2Fb/tasks/t/pushNotificationConfigs/p%2Fq");
  ListQuery query;
  query.context.value = "c&d";
  query.state = State::working;
  query.page_size = 5;
  CHECK(v1_rest->write_list(query)->path ==
        "/a%2Fb/tasks?contextId=c%26d&status=TASK_STATE_WORKING&pageSize=5&historyLength=0");
  CHECK(rest_v0_3().write_get({{"t"}, 0, true, {}, {}}).path == "/v1/tasks/t");
  CHECK(rest_v0_3().write_subscribe({"t"}).path == "/v1/tasks/t:subscribe");
}

TEST_CASE("Client dialects: the tenant of an interface is in every request of 1.0") {
  const auto rpc = client_dialect(ProtocolVersion::v1_0, Binding::json_rpc, "acme");
  for (const ClientRequest& request :
       {rpc->write_send(text_send(), true), rpc->write_get({{"t"}, 0, true, {}, {}}),
        rpc->write_cancel({"t"}), rpc->write_subscribe({"t"}), *rpc->write_list({}),
        rpc->write_get_push({{"t"}, {"p"}}), rpc->write_set_push({}), *rpc->write_list_push({"t"}),
        *rpc->write_delete_push({{"t"}, {"p"}})}) {
    CAPTURE(request.body);
    CHECK(parsed(request.body).root()["params"]["tenant"].string() == "acme");
  }
}

TEST_CASE("Client dialects: an answer without a result is an error") {
  const json::Document result = parsed(R"({"jsonrpc":"2.0","id":1,"result":{"id":"t"}})");
  const auto good = value_of(old().read_answer(result.root(), true));
  CHECK_FALSE(good.error.has_value());
  CHECK(good.result["id"].string() == "t");

  const json::Document error = parsed(R"({"id":null,"error":{"code":-32001,"message":"Task not found"}})");
  const auto bad = value_of(old().read_answer(error.root(), true));
  REQUIRE(bad.error.has_value());
  CHECK(bad.error->code == kTaskNotFound);
  CHECK(bad.error->message == "Task not found");
  const std::string long_text(1'000'000, 'a');
  const auto long_error = json::Document::parse(R"({"error":{"code":1,"message":")" + long_text +
                                                R"(","data":")" + long_text + R"("}})");
  const auto cut = value_of(old().read_answer(long_error->root(), true));
  CHECK(cut.error->message.size() == 4'096);
  CHECK(cut.error->detail.size() == 4'096);

  for (const char* text : {"[]", "5", "{}", R"({"error":"x"})", R"({"error":{"code":"x"}})"}) {
    CAPTURE(text);
    const json::Document document = parsed(text);
    CHECK_FALSE(v1().read_answer(document.root(), true).has_value());
  }
  for (const char* text : {"[]", "5", "{}", R"({"error":"x"})", R"({"message":5})"}) {
    CAPTURE(text);
    const json::Document document = parsed(text);
    CHECK_FALSE(rest_v0_3().read_answer(document.root(), false).has_value());
  }
}

TEST_CASE("Client dialects: REST errors of every server are understood") {
  const std::vector<std::pair<std::string, std::int64_t>> table{
      {R"({"code":-32001,"message":"Task not found"})", kTaskNotFound},
      {R"({"message":"no"})", 0},
      {R"({"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[]}})", kTaskNotFound},
      {R"({"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[5,{"@type":
          "type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_CANCELABLE"}]}})",
       kTaskNotCancelable},
      {R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"no","details":7}})", 429},
      {R"({"error":{"code":418,"status":"TEAPOT","message":"no","details":7}})", 0},
  };
  for (const auto& [text, code] : table) {
    CAPTURE(text);
    const json::Document document = parsed(text);
    const auto answer = value_of(rest_v0_3().read_answer(document.root(), false));
    REQUIRE(answer.error.has_value());
    CHECK(answer.error->code == code);
  }
}

TEST_CASE("Client dialects: every state has a meaning in every spelling, an unknown one is a failure") {
  const std::vector<std::pair<std::string, State>> table{
      {R"("submitted")", State::submitted},
      {R"("input-required")", State::input_required},
      {R"("canceled")", State::canceled},
      {R"("TASK_STATE_CANCELED")", State::canceled},
      {R"("TASK_STATE_CANCELLED")", State::canceled},
      {R"("TASK_STATE_AUTH_REQUIRED")", State::auth_required},
      {R"("INPUT_REQUIRED")", State::input_required},  // these three: of spring-ai-ascend and ggcode
      {R"("input_required")", State::input_required},
      {R"("cancelled")", State::canceled},
      {"2", State::working},
      {"8", State::auth_required},
      {"99", State::failed},
      {R"("unknown")", State::failed},
      {R"("weird")", State::failed},
  };
  for (const ClientDialect* dialect : {&old(), &rpc_v0_3(), &rest_v0_3(), &v1()}) {
    for (const auto& [name, state] : table) {
      CAPTURE(name);
      const auto update =
          update_of<StatusUpdate>(*dialect, R"({"taskId":"t","status":{"state":)" + name + "}}");
      CHECK(update.status.state == state);
    }
  }
}

TEST_CASE("Client dialects: a state that ProtoJSON leaves out is a failure with its reason") {
  for (const ClientDialect* dialect : {&rest_v0_3(), &v1()}) {
    const char* const parts = dialect == &v1() ? "parts" : "content";
    const auto update = update_of<StatusUpdate>(
        *dialect,
        R"({"statusUpdate":{"taskId":"t","status":{"message":{"messageId":"m","role":"ROLE_AGENT",")" +
            std::string(parts) + R"(":[{"text":"not my trade"}]}},"final":true}})");
    CHECK(update.status.state == State::failed);
    REQUIRE(update.status.message.has_value());
    CHECK(task::text_of(*update.status.message) == "not my trade");
  }
}

TEST_CASE("A2A 0.1 client: forms that only hand-written servers send are read") {
  const auto message = update_of<StatusUpdate>(
      old(), R"({"id":1,"status":{"state":"working","timestamp":"2025-04-02T16:59:25.331844",
                 "message":{"data":[{"kind":"text","text":"a"},{"text":"b"}]}}})");
  CHECK(message.task.value == "1");
  REQUIRE(message.status.message.has_value());
  CHECK(message.status.message->role == task::Role::agent);
  CHECK(task::text_of(*message.status.message) == "a\nb");

  const auto file = update_of<ArtifactUpdate>(old(), R"({"id":"t","artifact":{"parts":[
      {"type":"file","file":{"mimeType":"image/png","data":"aGk"}},{"type":"data","data":[1,2]}]}})");
  CHECK(file.artifact.parts.at(0).content == "aGk=");
  CHECK(file.artifact.parts.at(1).content == "[1,2]");
  CHECK(file.artifact.ordinal == 0);
  CHECK_FALSE(file.append);
}

TEST_CASE("A2A 0.1 client: a task is distinguished from an event by members that only a task has") {
  const auto task = update_of<task::Task>(
      old(), R"({"id":"t1","sessionId":"s1","status":{"state":"completed"},"metadata":{},
                 "artifacts":[{"index":1,"parts":[{"type":"text","text":"done"}]}],
                 "history":[{"role":"user","parts":[{"type":"text","text":"do"}]}]})");
  CHECK(task.context.value == "s1");
  CHECK(task.status.state == State::completed);
  REQUIRE(task.artifacts.size() == 1);
  CHECK(task.artifacts[0].ordinal == 1);
  REQUIRE(task.history.size() == 1);
  CHECK(task.history[0].role == task::Role::user);
}

TEST_CASE("Client dialects: a message instead of a task is a reply, wrapped or not") {
  const std::string bare = R"({"kind":"message","messageId":"m","role":"agent","contextId":"c",
                               "parts":[{"kind":"text","text":"hi"}]})";
  const auto old_reply = update_of<MessageReply>(rpc_v0_3(), bare);
  CHECK(old_reply.context.value == "c");
  CHECK(task::text_of(old_reply.message) == "hi");
  CHECK(task::text_of(
            update_of<MessageReply>(rpc_v0_3(), R"({"role":"agent","parts":[{"type":"text","text":"hi"}]})")
                .message) == "hi");
  const std::string proto = R"({"message":{"message_id":"m","role":2,"content":[{"text":"hi"}]}})";
  CHECK(task::text_of(update_of<MessageReply>(rest_v0_3(), proto).message) == "hi");
  CHECK(update_of<MessageReply>(rest_v0_3(), proto).message.role == task::Role::agent);
  CHECK(task::text_of(update_of<MessageReply>(v1(), R"({"message":{"messageId":"m","role":"ROLE_AGENT",
                                                            "parts":[{"text":"hi"}]}})")
                          .message) == "hi");
}

TEST_CASE("Client dialects: snake_case, numbers and members left out by ProtoJSON are read") {
  const auto artifact = update_of<ArtifactUpdate>(
      v1(), R"({"artifact_update":{"task_id":"t","context_id":"c","artifact":{"artifact_id":"a"},
                "append":true,"last_chunk":true}})");
  CHECK(artifact.task.value == "t");
  CHECK(artifact.context.value == "c");
  CHECK(artifact.artifact.id.value == "a");
  CHECK(artifact.artifact.parts.empty());
  CHECK(artifact.append);
  CHECK(artifact.last_chunk);

  const auto nested = update_of<ArtifactUpdate>(
      rest_v0_3(), R"({"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[
          {"data":{"data":{"n":1}}},{"data":{"n":1}},{"file":{"file_with_uri":"https://x","mime_type":"a/b"}}]}}})");
  CHECK(nested.artifact.parts.at(0).content == R"({"n":1})");
  CHECK(nested.artifact.parts.at(1).content == R"({"n":1})");
  CHECK(nested.artifact.parts.at(2).content == "https://x");
  CHECK(nested.artifact.parts.at(2).media_type == "a/b");
}

// As a2a-go wrote them until December 2025, and servers that fill each member of their types.
TEST_CASE("Client dialects: parts that are left out or null are none, and empty texts are no content") {
  for (const char* parts : {"", R"(,"parts":null)", R"(,"parts":[])"}) {
    CAPTURE(parts);
    const auto last = update_of<ArtifactUpdate>(
        rpc_v0_3(),
        R"({"kind":"artifact-update","taskId":"t","lastChunk":true,"artifact":{"artifactId":"a")" +
            std::string(parts) + "}}");
    CHECK(last.artifact.parts.empty());
    CHECK(last.last_chunk);
  }
  const auto filled =
      update_of<ArtifactUpdate>(rpc_v0_3(), R"({"taskId":"t","artifact":{"artifactId":"a","parts":[
      {"kind":"file","text":"","file":{"name":"f","bytes":"","uri":"https://x/f"},"data":null},
      {"kind":"data","text":"","file":null,"data":{"n":1}},
      {"kind":"text","text":"","file":null,"data":null}]}})");
  REQUIRE(filled.artifact.parts.size() == 3);
  CHECK(filled.artifact.parts[0].content == "https://x/f");
  CHECK(filled.artifact.parts[1].content == R"({"n":1})");
  CHECK(filled.artifact.parts[2] == task::Part::of_text(""));
}

// As the SDK for Java writes what has no metadata.
TEST_CASE("Client dialects: empty metadata is none") {
  const auto piece = update_of<ArtifactUpdate>(
      v1(), R"({"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","name":"",
      "description":"","parts":[{"text":"hi","metadata":{},"filename":"","mediaType":""}],"metadata":{},
      "extensions":[]},"append":false,"lastChunk":true,"metadata":{}}})");
  REQUIRE(piece.artifact.parts.size() == 1);
  CHECK(piece.artifact.parts[0] == task::Part::of_text("hi"));
  CHECK(piece.artifact.metadata.empty());
  const auto note = update_of<StatusUpdate>(
      rpc_v0_3(),
      R"({"kind":"status-update","taskId":"t","status":{"state":"working","message":{"messageId":"m",
      "role":"agent","parts":[{"kind":"text","text":"hi","metadata":{}}],"metadata":{}}},"metadata":{}})");
  CHECK(note.metadata.empty());
  REQUIRE(note.status.message.has_value());
  CHECK(note.status.message->metadata.empty());
  CHECK(note.status.message->parts.at(0) == task::Part::of_text("hi"));
}

// As spring-ai-ascend answers GetTask.
TEST_CASE("Client dialects: a task that is wrapped like the answer to a send is read") {
  const json::Document document = parsed(
      R"({"task":{"id":"f4870cf3","contextId":"cc6819e5","status":{"state":"TASK_STATE_COMPLETED"},
          "artifacts":[],"history":[]}})");
  for (const ClientDialect* dialect : {&rpc_v0_3(), &v1()}) {
    const task::Task task = value_of(dialect->read_task(document.root()));
    CHECK(task.id.value == "f4870cf3");
    CHECK(task.status.state == State::completed);
  }
}

TEST_CASE("Client dialects: invalid answers are refused with the member's name") {
  const std::string long_id(2000, 'x');
  const std::vector<std::pair<std::string, std::string>> table{
      {R"([])", "not an object"},
      {R"({"id":"t"})", "status: must be an object"},
      {R"({"id":"t","status":{}})", "status.state"},
      {R"({"id":"t","status":{"state":"working","message":5}})", "status.message: must be an object"},
      {R"({"id":"t","status":{"state":"working","message":{"parts":7}}})", "status.message.parts"},
      {R"({"id":"t","artifact":[]})", "artifact: must be an object"},
      {R"({"id":"t","artifact":{"parts":[5]}})", "artifact.parts[0]: must be an object"},
      {R"({"id":"t","artifact":{"parts":[{"text":"a"},{}]}})",
       "artifact.parts[1]: must have text, file or data"},
      {R"({"id":"t","artifact":{"parts":[{"file":{}}]}})", "must have bytes or uri"},
      {R"({"id":"t","artifact":{"parts":[{"file":{"bytes":"*"}}]}})", "must be base64"},
      {R"({"id":"t","artifact":{"index":-1,"parts":[]}})", "artifact.index"},
      {R"({"id":"t","sessionId":"s","status":{"state":"working"},"artifacts":[{"parts":7}]})",
       "artifacts[0]: artifact.parts"},
      {R"({"id":"t","sessionId":"s","status":{"state":"working"},"artifacts":7})",
       "artifacts: must be a list"},
      {R"({"id":"t","sessionId":"s","status":{"state":"working"},"history":[3]})", "history[0]: message"},
      {R"({"id":")" + long_id + R"(","status":{"state":"working"}})", "id: is too long"},
  };
  for (const auto& [text, problem] : table) {
    CAPTURE(text);
    const json::Document document = parsed(text);
    const auto update = old().read_update(document.root());
    REQUIRE_FALSE(update.has_value());
    CAPTURE(update.error().for_caller);
    CHECK(update.error().for_caller.find(problem) != std::string::npos);
  }
}

TEST_CASE("Client dialects: optional values of the wrong type count as absent") {
  const auto update = update_of<task::Task>(
      v1(),
      R"({"task":{"id":"t","contextId":{},"metadata":[1],"status":{"state":"TASK_STATE_WORKING","timestamp":9,
                "message":{"messageId":"m","role":true,"parts":[],"extensions":{"a":1},"metadata":"x"}}}})");
  CHECK(update.id.value == "t");
  CHECK(update.context.empty());
  CHECK(update.metadata.empty());
  CHECK(update.status.message->metadata.empty());
  CHECK(update.status.message->extensions.empty());
}

}  // namespace
TEST_CASE(
    "ClientDialect: an answer with too many artifacts, messages and parts is refused before it is read") {
  const auto read = [](std::size_t most, const std::string& task) {
    const auto dialect = client_dialect(ProtocolVersion::v1_0, Binding::json_rpc, {}, most);
    const auto document = json::Document::parse_view(task);
    REQUIRE(document);
    const auto result = dialect->read_task(document->root());
    return result ? std::string() : result.error().for_caller;
  };
  const std::string parts = R"("parts":[{"text":"x"},{"text":"y"}])";
  const std::string task = R"({"id":"t","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m",)" +
                           parts + R"(}},"artifacts":[{"artifactId":"a",)" + parts +
                           R"(},{"artifactId":"b",)" + parts + R"(}],"history":[{"messageId":"h",)" + parts +
                           "}]}";
  CHECK(read(9, task).empty());
  CHECK(read(8, task) == "it has more than 8 artifacts, messages and parts");
  CHECK(read(1, task).find("more than 1 artifacts") != std::string::npos);
}

}  // namespace baton::protocol::a2a::client_dialect_test
