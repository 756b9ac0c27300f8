#include "dialect_bench.h"

namespace v1_0_test {

using namespace baton;
using namespace baton::test;
using protocol::a2a::v1_0;

namespace {

const std::string kMessage = R"("message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"x"}]})";

protocol::a2a::TaskRequest task_request(const std::string& params) {
  const auto document = parsed(params);
  return value_of(v1_0().read_task_request(document.root()));
}

protocol::a2a::PushRequest push(const std::string& params) {
  const auto document = parsed(params);
  return value_of(v1_0().read_push(document.root()));
}

std::string push_error(const std::string& params) {
  const auto document = parsed(params);
  return error_of(v1_0().read_push(document.root()));
}

std::string push_ref_error(const std::string& params) {
  const auto document = parsed(params);
  return error_of(v1_0().read_push_ref(document.root()));
}

task::PushConfig config() {
  task::PushConfig config;
  config.id.value = "p1";
  config.url = "https://h/";
  return config;
}

std::string config_shown(const task::PushConfig& config) {
  return written([&](json::Writer& out) { v1_0().write_push(out, {"t1"}, config); });
}

}  // namespace

TEST_CASE("A2A 1.0 send: everything in the request is read") {
  const auto request =
      send(v1_0(),
           R"({"tenant":"x","message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER",)"
           R"("parts":[{"text":"hi","filename":"f","mediaType":"a/b","metadata":{"k":1}},{"raw":"aGk="},)"
           R"({"url":"https://x"},{"data":{ "a":1.0 }}],"metadata":{"m":[1, 2]},"extensions":["e"],)"
           R"("referenceTaskIds":["r1","r2"]},"configuration":{"acceptedOutputModes":["text/plain"],)"
           R"("taskPushNotificationConfig":{"id":"p1","url":"https://h/","token":"t",)"
           R"("authentication":{"scheme":"Bearer","credentials":"c"}},"historyLength":3,)"
           R"("returnImmediately":true},"metadata":{ "k" : 1 }})");
  const task::Submission& submission = request.submission;
  CHECK(submission.task.value == "t1");
  CHECK(submission.context.value == "c1");
  CHECK(submission.metadata.text == R"({ "k" : 1 })");
  CHECK(submission.message.id.value == "m1");
  CHECK(submission.message.role == task::Role::user);
  CHECK(submission.message.metadata.text == R"({"m":[1, 2]})");
  CHECK(submission.message.extensions == std::vector<std::string>{"e"});
  CHECK(submission.message.reference_tasks == std::vector<task::TaskId>{{"r1"}, {"r2"}});
  REQUIRE(submission.message.parts.size() == 4);
  CHECK(submission.message.parts[0].filename == "f");
  CHECK(submission.message.parts[0].media_type == "a/b");
  CHECK(submission.message.parts[3].content == R"({ "a":1.0 })");
  CHECK(submission.accepted_output_modes == std::vector<std::string>{"text/plain"});
  CHECK(request.history_length == 3);
  CHECK(request.waits == false);
  REQUIRE(submission.push);
  CHECK(submission.push->id.value == "p1");
  CHECK(submission.push->token == "t");
  CHECK(submission.push->schemes == std::vector<std::string>{"Bearer"});
  CHECK(submission.push->credentials == "c");
  CHECK(submission.push->version == task::ProtocolVersion::v1_0);
  CHECK(submission.when_unknown == task::WhenUnknown::refuse);
  CHECK(submission.when_ended == task::WhenEnded::refuse);
  CHECK(submission.when_context_differs == task::WhenContextDiffers::refuse);
}

TEST_CASE("A2A 1.0 send: snake_case names, enum numbers and nulls are read") {
  const auto request =
      send(v1_0(),
           R"({"message":{"message_id":"m1","context_id":"c1","task_id":null,"role":1,"parts":)"
           R"([{"raw":"-_8","media_type":"a/b","text":null}],"reference_task_ids":["r"]},"metadata":null,)"
           R"("configuration":{"accepted_output_modes":["a/b"],"history_length":0,"return_immediately":true,)"
           R"("task_push_notification_config":{"url":"https://h","authentication":null}}})");
  CHECK(request.submission.message.id.value == "m1");
  CHECK(request.submission.context.value == "c1");
  CHECK(request.submission.task.empty());
  CHECK(request.submission.metadata.empty());
  CHECK(request.submission.message.parts.at(0).media_type == "a/b");
  CHECK(request.submission.message.reference_tasks.size() == 1);
  CHECK(request.submission.accepted_output_modes.size() == 1);
  CHECK(request.history_length == 0);
  CHECK(request.waits == false);
  REQUIRE(request.submission.push);
  CHECK(request.submission.push->id.empty());
}

TEST_CASE("A2A 1.0 send: required members must be present, and errors name the wrong one") {
  CHECK(send_error(v1_0(), "{}") == "message: is missing");
  CHECK(send_error(v1_0(), R"({"message":5})") == "message: must be an object");
  CHECK(send_error(v1_0(), R"({"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}})") ==
        "message.messageId: must not be empty");
  CHECK(send_error(v1_0(), R"({"message":{"messageId":"m","parts":[{"text":"x"}]}})") ==
        "message.role: must be ROLE_USER or ROLE_AGENT");
  CHECK(send_error(v1_0(), R"({"message":{"messageId":"m","role":0,"parts":[{"text":"x"}]}})") ==
        "message.role: must be ROLE_USER or ROLE_AGENT");
  CHECK(send_error(v1_0(), R"({"message":{"messageId":"m","role":"ROLE_USER"}})") ==
        "message.parts: must be a list");
  CHECK(send_error(v1_0(), R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{}]}})") ==
        "message.parts[0]: exactly one of text, raw, url and data is required");
  CHECK(send_error(v1_0(), "{" + kMessage + R"(,"configuration":{"historyLength":-1}})") ==
        "configuration.historyLength: must be a whole number of at least 0");
  CHECK(send_error(v1_0(), "{" + kMessage + R"(,"configuration":{"returnImmediately":1}})") ==
        "configuration.returnImmediately: must be true or false");
  CHECK(send_error(v1_0(), "{" + kMessage + R"(,"metadata":[]})") == "metadata: must be an object");
  const std::string long_id(257, 'x');
  CHECK(send_error(v1_0(), R"({"message":{"messageId":"m","contextId":")" + long_id +
                               R"(","role":"ROLE_USER","parts":[{"text":"x"}]}})") ==
        "message.contextId: must not be longer than 256 bytes");
}

TEST_CASE("A2A 1.0: numbers and booleans of a query are read") {
  const auto request = task_request(R"({"id":"t1","historyLength":"5"})");
  CHECK(request.id.value == "t1");
  CHECK(request.history_length == 5);
  CHECK(task_request(R"({"id":"t1","history_length":"0"})").history_length == 0);
  CHECK(send(v1_0(), "{" + kMessage + R"(,"configuration":{"returnImmediately":"true"}})").waits == false);
}

TEST_CASE("A2A 1.0: a request about a task must name it") {
  CHECK(task_request(R"({"id":"t1"})").id.value == "t1");
  CHECK(task_request(R"({"id":"t1","metadata":{"lastEventId":7}})").last_event == task::EventNumber{7});
  for (const char* params : {"{}", R"({"id":""})", "null"}) {
    CHECK(error_of(v1_0().read_task_request(parsed(params).root())) == "id: must not be empty");
  }
  CHECK(error_of(v1_0().read_task_request(parsed(R"({"id":5})").root())) == "id: must be a string");
  CHECK(error_of(v1_0().read_task_request(parsed(R"({"id":"t1","historyLength":-1})").root())) ==
        "historyLength: must be a whole number of at least 0");
}

TEST_CASE("A2A 1.0 push config: the flat form is read, under either name of its task") {
  const auto read =
      push(R"({"taskId":"t1","id":"p1","url":"https://h/","authentication":{"scheme":"Basic"}})");
  CHECK(read.task.value == "t1");
  CHECK(read.config.id.value == "p1");
  CHECK(read.config.schemes == std::vector<std::string>{"Basic"});
  CHECK(push(R"({"task_id":"t1","url":"https://h/"})").task.value == "t1");
  const auto in_rest = push(R"({"url":"https://h/"})");
  CHECK(in_rest.task.empty());
  CHECK(in_rest.config.id.empty());
  CHECK(push_error("{}") == "params.url: must be an http or https URL");
  CHECK(push(R"({"url":"HTTPS://h/"})").config.url == "HTTPS://h/");
  CHECK(push_error(R"({"url":"https://h/","authentication":{"credentials":"c"}})") ==
        "params.authentication.scheme: must not be empty");
}

TEST_CASE("A2A 1.0 push config: the forms of a draft, which a2a-go 2.0 to 2.2 sends, are read") {
  const auto nested = push(R"({"taskId":"t1","configId":"p1","config":{"url":"https://h/","token":"t"}})");
  CHECK(nested.task.value == "t1");
  CHECK(nested.config.id.value == "p1");
  CHECK(nested.config.token == "t");
  CHECK(push(R"({"taskId":"t1","config":{"id":"p2","url":"https://h/"}})").config.id.value == "p2");
  CHECK(push_error(R"({"taskId":"t1","config":{}})") == "params.config.url: must be an http or https URL");
  const auto sent =
      send(v1_0(), "{" + kMessage + R"(,"configuration":{"pushNotificationConfig":{"url":"https://h/"}}})");
  REQUIRE(sent.submission.push);
  CHECK(sent.submission.push->url == "https://h/");
}

TEST_CASE("A2A 1.0 push config: it is written flat, one page at a time, without unset members") {
  CHECK(config_shown(config()) == R"({"id":"p1","taskId":"t1","url":"https://h/"})");
  const std::string list = written([](json::Writer& out) {
    v1_0().write_pushes(out, {"t1"}, {config(), config()});
  });
  CHECK(list == R"({"configs":[)" + config_shown(config()) + "," + config_shown(config()) + "]}");
  CHECK(written([](json::Writer& out) { v1_0().write_pushes(out, {"t1"}, {}, "n"); }) ==
        R"({"configs":[],"nextPageToken":"n"})");
  CHECK(written([](json::Writer& out) { v1_0().write_push_deleted(out); }) == "null");
}

TEST_CASE("A2A 1.0: section 12 of the reference, exactly") {
  task::Task task = bare_task(task::State::completed);
  task.status.at = base::from_ms(1746093600000);
  task::Part file{task::Part::Kind::raw, "aGk=", "a.txt", "text/plain", {}};
  task.artifacts = {{{"a1"}, 0, "answer", {}, {file}, {}, {}}};
  task.history = {{{"m1"}, task::Role::user, {task::Part::of_text("say hi")}, {}, {}, {}}};
  CHECK(task_shown(v1_0(), task) ==
        R"({"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED",)"
        R"("timestamp":"2025-05-01T10:00:00.000Z"},"artifacts":[{"artifactId":"a1","name":"answer","parts":)"
        R"([{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"}]}],"history":[{"messageId":"m1",)"
        R"("contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"text":"say hi"}]}]})");
  CHECK(status_shown(v1_0(), task::State::completed, true) ==
        R"({"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED",)"
        R"("timestamp":"1970-01-01T00:00:00.000Z"}}})");
}

TEST_CASE("A2A 1.0 events: a reply in pieces is shown as an artifact in chunks") {
  const auto piece = [](bool first, bool last) {
    return shown(v1_0(), {{3}, {}, task::TextDelta{{"a7"}, 0, "hel", first, last}});
  };
  const std::string head =
      R"({"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a7",)"
      R"("parts":[{"text":"hel"}]})";
  CHECK(piece(true, false) == head + "}}");
  CHECK(piece(false, false) == head + R"(,"append":true}})");
  CHECK(piece(false, true) == head + R"(,"append":true,"lastChunk":true}})");
}

TEST_CASE("A2A 1.0 events: tool use is shown as working, and events without a form in 1.0 are not shown") {
  const std::string call = shown(v1_0(), {{4}, {}, task::ToolCall{"c", "search", {R"({"q":1})"}, false}});
  CHECK(has(call, R"("state":"TASK_STATE_WORKING")"));
  CHECK(has(call, R"({"data":{"toolCall":{"id":"c","name":"search","arguments":{"q":1}}}})"));
  CHECK(shown(v1_0(), {{5}, {}, task::MessageAdded{}}).empty());
  CHECK(shown(v1_0(), {{6}, {}, task::Withdrawn{}}).empty());
}

TEST_CASE("A2A 1.0 webhook: the body is only the event, with its own content type") {
  const task::Event event{{2}, {}, task::StatusChanged{{task::State::working, std::nullopt, {}}, {}}};
  const std::string body =
      written([&](json::Writer& out) { v1_0().write_webhook(out, bare_task(task::State::working), event); });
  CHECK(body == status_shown(v1_0(), task::State::working));
  CHECK(v1_0().webhook_content_type() == "application/a2a+json");
  CHECK_FALSE(v1_0().webhook_shows_task());
}

TEST_CASE("A2A 1.0: only the first of several schemes is shown in 1.0") {
  task::PushConfig several = config();
  several.schemes = {"Bearer", "Basic"};
  several.credentials = "c";
  CHECK(config_shown(several) == R"({"id":"p1","taskId":"t1","url":"https://h/",)"
                                 R"("authentication":{"scheme":"Bearer","credentials":"c"}})");
}

TEST_CASE("A2A 1.0: in 1.0 push operations id is the config's and taskId the task's") {
  const auto document = parsed(R"({"taskId":"t1","id":"p1"})");
  const auto ref = value_of(v1_0().read_push_ref(document.root()));
  CHECK(ref.task.value == "t1");
  CHECK(ref.config.value == "p1");
  CHECK(push_ref_error(R"({"id":"p1"})") == "taskId: must not be empty");
}

TEST_CASE("A2A 1.0: in 1.0 a send is answered with a wrapped task, a get with a bare one") {
  const std::string sent =
      written([](json::Writer& out) { v1_0().write_sent(out, bare_task(task::State::working)); });
  CHECK(sent == R"({"task":)" + task_shown(v1_0(), bare_task(task::State::working)) + "}");
}

TEST_CASE("A2A 1.0: a 1.0 stream ends at INPUT_REQUIRED and stays open at AUTH_REQUIRED") {
  CHECK(v1_0().stream_ends_at(task::State::completed));
  CHECK(v1_0().stream_ends_at(task::State::input_required));
  CHECK_FALSE(v1_0().stream_ends_at(task::State::auth_required));
}

TEST_CASE("A2A 1.0: an empty list of parts is refused in 1.0") {
  CHECK(send_error(v1_0(), R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[]}})") ==
        "message.parts: must have at least one part");
}

TEST_CASE("A2A 1.0: a 1.0 stream begins with the task") {
  CHECK(v1_0().stream_begins_with_task());
  const std::string first =
      written([](json::Writer& out) { v1_0().write_first(out, bare_task(task::State::submitted), false); });
  CHECK(first.starts_with(R"({"task":{"id":"t1","contextId":"c1",)"));
}

TEST_CASE("A2A 1.0: refusals are sent within the stream to clients that prefer one") {
  CHECK(v1_0().refuses_in_stream());
}

TEST_CASE("A2A 1.0: members of earlier versions and members not in the proto are not written") {
  const task::ArtifactChunk chunk{rich_artifact(), true, true};
  const std::string all = task_shown(v1_0(), rich_task(task::State::completed)) +
                          status_shown(v1_0(), task::State::input_required, true) +
                          shown(v1_0(), {{1}, {}, chunk});
  for (const char* name : {"kind", "type", "sessionId", "final", "index", "createdAt", "lastModified",
                           "bytes", "configId", "mimeType", "schemes"}) {
    CAPTURE(name);
    CHECK_FALSE(has(all, '"' + std::string(name) + '"'));
  }
}

TEST_CASE("A2A 1.0: without configuration a 1.0 send leaves the choice to wait to the agent's card") {
  CHECK_FALSE(send(v1_0(), "{" + kMessage + "}").waits.has_value());
  CHECK_FALSE(send(v1_0(), "{" + kMessage + R"(,"configuration":{}})").waits.has_value());
  CHECK(send(v1_0(), "{" + kMessage + R"(,"configuration":{"returnImmediately":false}})").waits == true);
}

TEST_CASE("A2A 1.0: history length 0 means none, and its absence all") {
  CHECK(send(v1_0(), "{" + kMessage + "}").history_length == std::nullopt);
  CHECK(send(v1_0(), "{" + kMessage + R"(,"configuration":{"historyLength":0}})").history_length == 0);
  CHECK(task_request(R"({"id":"t"})").history_length == std::nullopt);
  CHECK(task_request(R"({"id":"t","historyLength":0})").history_length == 0);
  CHECK_FALSE(has(task_shown(v1_0(), bare_task(task::State::working)), "history"));
}

TEST_CASE("A2A 1.0: sends and subscriptions to an ended task are unsupported in 1.0") {
  CHECK(v1_0().refusal_when_ended() == base::ErrorCode::unsupported);
  CHECK_FALSE(v1_0().subscribes_to_ended());
  CHECK(v1_0().cancels_twice());
}

TEST_CASE("A2A 1.0: members that 1.0 does not know are ignored") {
  const auto request =
      send(v1_0(), R"({"kind":"x","message":{"kind":"message","messageId":"m","role":"ROLE_USER",)"
                   R"("parts":[{"kind":"text","text":"x","new":1}]},"configuration":{"blocking":false}})");
  CHECK_FALSE(request.waits.has_value());
  CHECK(request.submission.message.parts.at(0).content == "x");
}

TEST_CASE("A2A 1.0: data of 1.0 may be any value, null included") {
  for (const std::string data : {"null", "5", "[1, 2]", R"("x")", R"({"value":1})"}) {
    CAPTURE(data);
    const auto request =
        send(v1_0(), R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":)" + data + "}]}}");
    task::Task task = bare_task(task::State::working);
    task.history = {request.submission.message};
    CHECK(has(task_shown(v1_0(), task), R"("parts":[{"data":)" + data + "}]"));
  }
}

TEST_CASE("A2A 1.0: numbers too large for a double are kept unchanged") {
  const std::string shown_task = task_shown(v1_0(), rich_task(task::State::working));
  CHECK(has(shown_task, R"({"data":{ "n" : 123456789012345678901 }})"));
}

TEST_CASE("A2A 1.0: base64 of either alphabet is read in 1.0, standard base64 is written") {
  const auto request =
      send(v1_0(), R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"-_8"}]}})");
  CHECK(request.submission.message.parts.at(0).content == "+/8=");
}

}  // namespace v1_0_test
