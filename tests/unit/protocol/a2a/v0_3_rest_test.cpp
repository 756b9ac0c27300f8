#include "dialect_bench.h"

namespace v0_3_rest_test {

using namespace baton;
using namespace baton::test;
using protocol::a2a::v0_3;
using protocol::a2a::v0_3_rest;

namespace {

const std::string kMessage = R"("message":{"messageId":"m1","role":"ROLE_USER","content":[{"text":"x"}]})";

protocol::a2a::TaskRequest task_request(const std::string& params) {
  const auto document = parsed(params);
  return value_of(v0_3_rest().read_task_request(document.root()));
}

protocol::a2a::PushRequest push(const std::string& params) {
  const auto document = parsed(params);
  return value_of(v0_3_rest().read_push(document.root()));
}

task::Part part_of(const std::string& part) {
  const auto request =
      send(v0_3_rest(), R"({"message":{"messageId":"m","role":"ROLE_USER","content":[)" + part + "]}}");
  return request.submission.message.parts.at(0);
}

std::string part_error(const std::string& part) {
  return send_error(v0_3_rest(),
                    R"({"message":{"messageId":"m","role":"ROLE_USER","content":[)" + part + "]}}");
}

task::PushConfig config() {
  task::PushConfig config;
  config.id.value = "p1";
  config.url = "https://h/";
  config.schemes = {"Bearer", "Basic"};
  config.credentials = "c";
  return config;
}

const std::string kConfigShown =
    R"({"name":"tasks/t1/pushNotificationConfigs/p1","pushNotificationConfig":{"id":"p1","url":"https://h/",)"
    R"("authentication":{"schemes":["Bearer","Basic"],"credentials":"c"}}})";

}  // namespace

TEST_CASE("A2A 0.3 REST send: everything in the request is read") {
  const auto request = send(
      v0_3_rest(),
      R"({"message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","content":[{"text":"hi",)"
      R"("metadata":{"k":1}},{"file":{"fileWithBytes":"aGk","mimeType":"a/b","name":"f"}},)"
      R"({"file":{"fileWithUri":"https://x"}},{"data":{"data":{ "a":1.0 }}}],"metadata":{"m":[1, 2]},)"
      R"("extensions":["e"]},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,)"
      R"("blocking":true,"pushNotification":{"id":"p1","url":"https://h/","token":"t",)"
      R"("authentication":{"schemes":["Bearer","Basic"],"credentials":"c"}}},"metadata":{ "k" : 1 }})");
  const task::Submission& submission = request.submission;
  CHECK(submission.task.value == "t1");
  CHECK(submission.context.value == "c1");
  CHECK(submission.metadata.text == R"({ "k" : 1 })");
  CHECK(submission.message.id.value == "m1");
  CHECK(submission.message.metadata.text == R"({"m":[1, 2]})");
  CHECK(submission.message.extensions == std::vector<std::string>{"e"});
  REQUIRE(submission.message.parts.size() == 4);
  CHECK(submission.message.parts[0].metadata.text == R"({"k":1})");
  CHECK(submission.message.parts[1].content == "aGk=");
  CHECK(submission.message.parts[1].filename == "f");
  CHECK(submission.message.parts[1].media_type == "a/b");
  CHECK(submission.message.parts[2].kind == task::Part::Kind::url);
  CHECK(submission.message.parts[3].content == R"({ "a":1.0 })");
  CHECK(submission.accepted_output_modes == std::vector<std::string>{"text/plain"});
  CHECK(request.history_length == 3);
  CHECK(request.waits == true);
  REQUIRE(submission.push);
  CHECK(submission.push->schemes == std::vector<std::string>{"Bearer", "Basic"});
  CHECK(submission.push->version == task::ProtocolVersion::v0_3);
  CHECK(submission.when_unknown == task::WhenUnknown::refuse);
}

TEST_CASE("A2A 0.3 REST send: the proto's own names, enum numbers and the name of 0.2.6 are read") {
  const auto request = send(
      v0_3_rest(),
      R"({"request":{"message_id":"m1","context_id":"c1","task_id":null,"role":2,"content":)"
      R"([{"file":{"file_with_bytes":"-_8","mime_type":"a/b"}},{"file":{"file_with_uri":"https://x"}}]},)"
      R"("configuration":{"accepted_output_modes":["a/b"],"history_length":2,"push_notification":{"url":"http://h"}}})");
  CHECK(request.submission.message.id.value == "m1");
  CHECK(request.submission.message.role == task::Role::agent);
  CHECK(request.submission.context.value == "c1");
  CHECK(request.submission.message.parts.at(0).content == "+/8=");
  CHECK(request.submission.message.parts.at(1).content == "https://x");
  CHECK(request.history_length == 2);
  CHECK(request.submission.push);
}

TEST_CASE("A2A 0.3 REST send: errors name the wrong member") {
  CHECK(send_error(v0_3_rest(), "{}") == "message: must be an object");
  CHECK(send_error(v0_3_rest(), "[]") == "params: must be an object");
  CHECK(send_error(v0_3_rest(), R"({"message":{}})") == "message.messageId: must not be empty");
  CHECK(send_error(v0_3_rest(), R"({"message":{"messageId":""}})") == "message.messageId: must not be empty");
  CHECK(send_error(v0_3_rest(), R"({"message":{"messageId":"m","content":[{"text":"x"}]}})") ==
        "message.role: must be ROLE_USER or ROLE_AGENT");
  CHECK(send_error(v0_3_rest(), R"({"message":{"messageId":"m","role":"ROLE_USER"}})") ==
        "message.content: must be a list");
  CHECK(send_error(v0_3_rest(), R"({"message":{"messageId":"m","role":"ROLE_USER","content":[]}})") ==
        "message.content: must not be empty");
  CHECK(
      send_error(v0_3_rest(), R"({"message":{"messageId":"m","role":"ROLE_X","content":[{"text":"x"}]}})") ==
      "message.role: must be ROLE_USER or ROLE_AGENT");
  CHECK(part_error("{}") == "message.content[0].text: exactly one of text, file and data is required");
  CHECK(part_error(R"({"text":"x","data":{"data":{}}})") ==
        "message.content[0].text: exactly one of text, file and data is required");
  CHECK(part_error(R"({"text":5})") == "message.content[0].text: must be a string");
  CHECK(part_error(R"({"file":{"fileWithBytes":"!"}})") ==
        "message.content[0].file.fileWithBytes: is not base64");
  CHECK(part_error(R"({"file":{}})") ==
        "message.content[0].file: exactly one of fileWithBytes and fileWithUri is required");
  CHECK(part_error(R"({"data":5})") == "message.content[0].data: must be an object");
  CHECK(send_error(v0_3_rest(), "{" + kMessage + R"(,"configuration":{"blocking":"maybe"}})") ==
        "configuration.blocking: must be true or false");
}

TEST_CASE("A2A 0.3 REST: tasks are identified by resource names and ids, with values of a query") {
  CHECK(task_request(R"({"name":"tasks/t1"})").id.value == "t1");
  CHECK(task_request(R"({"name":"tasks/a/b"})").id.value == "a/b");
  const auto request = task_request(R"({"id":"t1","name":"tasks/other","history_length":"5"})");
  CHECK(request.id.value == "t1");
  CHECK(request.history_length == 5);
  const auto negative = parsed(R"({"id":"t1","historyLength":"-1"})");
  CHECK(error_of(v0_3_rest().read_task_request(negative.root())) ==
        "historyLength: must be a whole number of at least 0");
  const auto document = parsed(R"({"name":"t1"})");
  CHECK(error_of(v0_3_rest().read_task_request(document.root())) == "name: must be a name such as tasks/1");
}

TEST_CASE("A2A 0.3 REST: the literal null of old clients is read as a body without members") {
  CHECK(task_request("null").id.empty());
  CHECK(task_request("{}").id.empty());
}

TEST_CASE("A2A 0.3 REST push config: all forms of a body are read") {
  const std::string inner = R"({"id":"p1","url":"https://h/"})";
  const std::vector<std::string> bodies{
      R"({"parent":"tasks/t1","configId":"p1","config":{"pushNotificationConfig":)" + inner + "}}",
      R"({"parent":"tasks/t1","config_id":"p1","config":{"push_notification_config":{"url":"https://h/"}}})",
      R"({"config":{"name":"tasks/t1/pushNotificationConfigs/p1","pushNotificationConfig":)" + inner + "}}",
      R"({"name":"tasks/t1/pushNotificationConfigs/p1","pushNotificationConfig":{"url":"https://h/"}})",
      R"({"name":"tasks/t1/pushNotificationConfigs/","pushNotificationConfig":)" + inner + "}",
      R"({"taskId":"t1","pushNotificationConfig":)" + inner + "}"};
  for (const std::string& body : bodies) {
    CAPTURE(body);
    const auto request = push(body);
    CHECK(request.task.value == "t1");
    CHECK(request.config.id.value == "p1");
    CHECK(request.config.url == "https://h/");
    CHECK(request.config.version == task::ProtocolVersion::v0_3);
  }
  for (const std::string& body : std::vector<std::string>{R"({"config":)" + inner + "}", inner}) {
    CHECK(push(body).task.empty());
    CHECK(push(body).config.id.value == "p1");
  }
  const auto document = parsed(R"({"pushNotificationConfig":{}})");
  CHECK(error_of(v0_3_rest().read_push(document.root())) ==
        "pushNotificationConfig.url: must be an http or https URL");
}

TEST_CASE("A2A 0.3 REST push config: it is identified by its resource name") {
  CHECK(written([](json::Writer& out) { v0_3_rest().write_push(out, {"t1"}, config()); }) == kConfigShown);
  const auto document = parsed(R"({"name":"tasks/t1/pushNotificationConfigs/p1"})");
  const auto ref = value_of(v0_3_rest().read_push_ref(document.root()));
  CHECK(ref.task.value == "t1");
  CHECK(ref.config.value == "p1");
}

TEST_CASE("A2A 0.3 REST: section 12 of the reference, exactly") {
  task::Task task = bare_task(task::State::completed);
  task.status.at = base::from_ms(1746093600000);
  task::Part file{task::Part::Kind::raw, "aGk=", "a.txt", "text/plain", {}};
  task.artifacts = {{{"a1"}, 0, "answer", {}, {file}, {}, {}}};
  task.history = {{{"m1"}, task::Role::user, {task::Part::of_text("say hi")}, {}, {}, {}}};
  CHECK(
      task_shown(v0_3_rest(), task) ==
      R"({"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED",)"
      R"("timestamp":"2025-05-01T10:00:00Z"},"artifacts":[{"artifactId":"a1","name":"answer","parts":)"
      R"([{"file":{"fileWithBytes":"aGk=","mimeType":"text/plain","name":"a.txt"}}]}],"history":)"
      R"([{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","content":[{"text":"say hi"}]}]})");
}

TEST_CASE("A2A 0.3 REST events: members of a StreamResponse, without defaults") {
  CHECK(status_shown(v0_3_rest(), task::State::working) ==
        R"({"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING",)"
        R"("timestamp":"1970-01-01T00:00:00Z"}}})");
  CHECK(shown(v0_3_rest(), {{3}, {}, task::TextDelta{{"a7"}, 0, "hel", false, true}}) ==
        R"({"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a7",)"
        R"("parts":[{"text":"hel"}]},"append":true,"lastChunk":true}})");
  const std::string call = shown(v0_3_rest(), {{4}, {}, task::ToolCall{"c", "search", {}, false}});
  CHECK(has(call, R"({"data":{"data":{"toolCall":{"id":"c","name":"search","arguments":{}}}}})"));
  CHECK(shown(v0_3_rest(), {{5}, {}, task::MessageAdded{}}).empty());
}

TEST_CASE("A2A: canceled has two L in the REST of 0.3 and one in 1.0") {
  CHECK(has(status_shown(v0_3_rest(), task::State::canceled), R"("TASK_STATE_CANCELLED")"));
  CHECK(has(status_shown(protocol::a2a::v1_0(), task::State::canceled), R"("TASK_STATE_CANCELED")"));
}

TEST_CASE("A2A: a list of push configs is an object in the REST of 0.3") {
  const std::string list =
      written([](json::Writer& out) { v0_3_rest().write_pushes(out, {"t1"}, {config()}); });
  CHECK(list == R"({"configs":[)" + kConfigShown + R"(],"nextPageToken":""})");
}

TEST_CASE("A2A: in the REST of 0.3 a send is answered with a wrapped task") {
  const std::string sent =
      written([](json::Writer& out) { v0_3_rest().write_sent(out, bare_task(task::State::working)); });
  CHECK(sent == R"({"task":)" + task_shown(v0_3_rest(), bare_task(task::State::working)) + "}");
  const std::string first = written(
      [](json::Writer& out) { v0_3_rest().write_first(out, bare_task(task::State::working), false); });
  CHECK(first == sent);
}

TEST_CASE("A2A: the REST of 0.3 has its own form, and the JSON-RPC form is read too") {
  const std::string all = task_shown(v0_3_rest(), rich_task(task::State::completed));
  CHECK(has(all, R"("content":[)"));
  CHECK(has(all, R"({"data":{"data":{ "n" : 123456789012345678901 }}})"));
  for (const char* name : {"kind", "type", "bytes", "uri", "referenceTaskIds", "mediaType\":\"text/plain"}) {
    CAPTURE(name);
    CHECK_FALSE(has(all, '"' + std::string(name) + '"'));
  }
  const auto request = send(
      v0_3_rest(),
      R"({"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"},)"
      R"({"kind":"file","file":{"bytes":"aGk=","mimeType":"a/b","name":"f"}},)"
      R"({"kind":"file","file":{"uri":"https://x"}},{"kind":"data","data":{"data":{"a":1}}}],)"
      R"("referenceTaskIds":["r"]},"configuration":{"blocking":true,"pushNotificationConfig":{"url":"http://h"}}})");
  const auto& parts = request.submission.message.parts;
  REQUIRE(parts.size() == 4);
  CHECK(parts[1].content == "aGk=");
  CHECK(parts[2].content == "https://x");
  CHECK(parts[3].content == R"({"data":{"a":1}})");
  CHECK(request.submission.message.reference_tasks.size() == 1);
  CHECK(request.submission.push);
  CHECK(part_of(R"({"data":{"a":1}})").content == R"({"a":1})");
  CHECK(part_of(R"({"data":{"data":{}}})").content == "{}");
}

TEST_CASE("A2A: in the REST of 0.3 final is true for the state that ends the stream") {
  CHECK(has(status_shown(v0_3_rest(), task::State::completed, true), R"("final":true)"));
  CHECK(has(status_shown(v0_3_rest(), task::State::input_required, true), R"("final":true)"));
  CHECK_FALSE(has(status_shown(v0_3_rest(), task::State::input_required), "final"));
}

TEST_CASE("A2A: in the REST of 0.3 history length 0 means all, as its absence does") {
  CHECK(send(v0_3_rest(), "{" + kMessage + "}").history_length == std::nullopt);
  CHECK(send(v0_3_rest(), "{" + kMessage + R"(,"configuration":{"historyLength":0}})").history_length ==
        std::nullopt);
  CHECK(task_request(R"({"id":"t1","historyLength":"0"})").history_length == std::nullopt);
  CHECK(task_request(R"({"id":"t1"})").history_length == std::nullopt);
}

TEST_CASE("A2A: in the REST of 0.3 a configuration without blocking means not to wait") {
  CHECK(send(v0_3_rest(), "{" + kMessage + "}").waits.value_or(true));
  CHECK(send(v0_3_rest(), "{" + kMessage + R"(,"configuration":null})").waits.value_or(true));
  CHECK(send(v0_3_rest(), "{" + kMessage + R"(,"configuration":{}})").waits == false);
  CHECK(send(v0_3_rest(), "{" + kMessage + R"(,"configuration":{"blocking":false}})").waits == false);
  CHECK(send(v0_3_rest(), "{" + kMessage + R"(,"configuration":{"blocking":true}})").waits == true);
}

TEST_CASE("A2A: webhooks of 0.3 are sent the task in its JSON-RPC shape, in every binding") {
  const task::Task task = rich_task(task::State::working);
  const task::Event event{{2}, {}, task::StatusChanged{task.status, {}}};
  const auto body = [&](const Dialect& dialect) {
    return written([&](json::Writer& out) { dialect.write_webhook(out, task, event); });
  };
  CHECK(body(v0_3_rest()) == body(v0_3()));
  CHECK(body(v0_3_rest()).starts_with(R"({"kind":"task")"));
  CHECK(&protocol::a2a::dialect_of(task::ProtocolVersion::v0_3) == &v0_3());
  CHECK(&protocol::a2a::dialect_of(task::ProtocolVersion::v1_0) == &protocol::a2a::v1_0());
  CHECK(v0_3_rest().webhook_content_type() == "application/json");
  CHECK(v0_3_rest().webhook_shows_task());
}

TEST_CASE("A2A: in the REST of 0.3 data other than an object is wrapped and marked") {
  task::Task task = bare_task(task::State::working);
  task::Message message;
  message.parts = {task::Part::of_data({"[1, 2]"})};
  task.history = {message};
  const std::string wrapped = R"({"data":{"data":{"value":[1, 2]}},"metadata":{"data_part_compat":true}})";
  CHECK(has(task_shown(v0_3_rest(), task), wrapped));
  const task::Part back = part_of(wrapped);
  CHECK(back.content == "[1, 2]");
  CHECK(back.metadata.empty());
  CHECK(part_of(R"({"data":{"data":{"value":[1]}}})").content == R"({"value":[1]})");
}

TEST_CASE("A2A: base64 of either alphabet is read in the REST of 0.3, standard base64 is written") {
  CHECK(part_of(R"({"file":{"fileWithBytes":"-_8"}})").content == "+/8=");
}

}  // namespace v0_3_rest_test
