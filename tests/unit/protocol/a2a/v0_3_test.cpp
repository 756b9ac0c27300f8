#include "dialect_bench.h"

namespace v0_3_test {

using namespace baton;
using namespace baton::test;

namespace {

const Dialect& dialect = protocol::a2a::v0_3();

protocol::a2a::SendRequest send_with(const std::string& configuration) {
  return send(
      dialect,
      R"({"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":)" +
          configuration + "}");
}

// The error of a send whose message also has `member`.
std::string error_with(const std::string& member) {
  return send_error(
      dialect,
      R"({"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}],)" + member + "}}");
}

}  // namespace

TEST_CASE("A2A 0.3 send: everything in the request is read") {
  const auto read =
      send(dialect,
           R"({"message":{"kind":"message","messageId":"m1","role":"user","taskId":"t1","contextId":"c1",)"
           R"("parts":[{"kind":"text","text":"hi","metadata":{ "p" : 1.0 }},)"
           R"({"kind":"file","file":{"name":"a","mimeType":"x/y","bytes":"aGk="}},)"
           R"({"kind":"file","file":{"uri":"https://x"}},{"kind":"data","data":{ "a":1.0 }}],)"
           R"("metadata":{"m":[1, 2]},"extensions":["https://e"],"referenceTaskIds":["t0","t9"]},)"
           R"("configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,"blocking":false,)"
           R"("pushNotificationConfig":{"id":"p1","url":"https://h/","token":"t",)"
           R"("authentication":{"schemes":["Bearer"],"credentials":"c"}}},"metadata":{ "k" : 1 }})");
  const task::Submission& submission = read.submission;
  CHECK(submission.task.value == "t1");
  CHECK(submission.context.value == "c1");
  CHECK(submission.message.id.value == "m1");
  CHECK(submission.message.role == task::Role::user);
  REQUIRE(submission.message.parts.size() == 4);
  CHECK(submission.message.parts[0].metadata.text == R"({ "p" : 1.0 })");
  CHECK(submission.message.parts[1].kind == task::Part::Kind::raw);
  CHECK(submission.message.parts[1].filename == "a");
  CHECK(submission.message.parts[1].media_type == "x/y");
  CHECK(submission.message.parts[2].kind == task::Part::Kind::url);
  CHECK(submission.message.parts[3].content == R"({ "a":1.0 })");
  CHECK(submission.message.metadata.text == R"({"m":[1, 2]})");
  CHECK(submission.message.extensions == std::vector<std::string>{"https://e"});
  CHECK(submission.message.reference_tasks == std::vector<task::TaskId>{{"t0"}, {"t9"}});
  CHECK(submission.metadata.text == R"({ "k" : 1 })");
  CHECK(submission.accepted_output_modes == std::vector<std::string>{"text/plain"});
  CHECK(read.history_length == 3);
  CHECK(read.waits == false);
  REQUIRE(submission.push);
  CHECK(submission.push->id.value == "p1");
  CHECK(submission.push->url == "https://h/");
  CHECK(submission.push->token == "t");
  CHECK(submission.push->schemes == std::vector<std::string>{"Bearer"});
  CHECK(submission.push->credentials == "c");
  CHECK(submission.push->version == task::ProtocolVersion::v0_3);
}

TEST_CASE("A2A 0.3 send: the server chooses task ids, and an ended task is not reopened") {
  const task::Submission submission = send_with("{}").submission;
  CHECK(submission.task.empty());
  CHECK(submission.when_unknown == task::WhenUnknown::refuse);
  CHECK(submission.when_ended == task::WhenEnded::refuse);
  CHECK(submission.when_context_differs == task::WhenContextDiffers::refuse);
}

TEST_CASE("A2A 0.3 send: the forms of early documents are read") {
  const auto read =
      send(dialect,
           R"({"message":{"messageId":"m","role":"user","parts":[{"type":"text","text":"x"},{"text":"y"},)"
           R"({"type":"file","file":{"mimeType":"a/b","data":"aGk"}},{"data":{}}]}})");
  REQUIRE(read.submission.message.parts.size() == 4);
  CHECK(read.submission.message.parts[2].content == "aGk=");
  CHECK(read.submission.message.id.value == "m");
  CHECK_FALSE(read.waits);
  CHECK_FALSE(read.history_length);
}

TEST_CASE("A2A 0.3 send: a webhook is read under the name that the first a2a-dotnet sends") {
  const auto read =
      send(dialect, R"({"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},)"
                    R"("configuration":{"pushNotification":{"url":"https://h/"}}})");
  REQUIRE(read.submission.push);
  CHECK(read.submission.push->url == "https://h/");
}

TEST_CASE("A2A 0.3 send: errors name the wrong member") {
  CHECK(send_error(dialect, "{}") == "params.message: must be an object");
  CHECK(send_error(dialect, R"({"message":{"role":"user"}})") ==
        "params.message.messageId: must not be empty");
  CHECK(send_error(dialect, R"({"message":{"messageId":"m"}})") ==
        "params.message.role: must be user or agent");
  CHECK(send_error(dialect, R"({"message":{"messageId":"m","role":"user"}})") ==
        "params.message.parts: must be a list");
  CHECK(error_with(R"("messageId":"")") == "params.message.messageId: must not be empty");
  CHECK(error_with(R"("role":"")") == "params.message.role: must be user or agent");
  CHECK(error_with(R"("kind":"task")") == "params.message.kind: must be message");
  CHECK(error_with(R"("role":"ROLE_USER")") == "params.message.role: must be user or agent");
  CHECK(error_with(R"("messageId":5)") == "params.message.messageId: must be a string");
  CHECK(error_with(R"("taskId":5)") == "params.message.taskId: must be a string");
  CHECK(error_with(R"("contextId":")" + std::string(257, 'c') + '"') ==
        "params.message.contextId: must not be longer than 256 bytes");
  CHECK(error_with(R"("extensions":"x")") == "params.message.extensions: must be a list of strings");
  CHECK(error_with(R"("referenceTaskIds":[1])") ==
        "params.message.referenceTaskIds: must be a list of strings");
  const auto configured = [](const std::string& configuration) {
    return send_error(
        dialect, R"({"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]},"configuration":)" +
                     configuration + "}");
  };
  CHECK(configured("[]") == "params.configuration: must be an object");
  CHECK(configured(R"({"blocking":"no"})") == "params.configuration.blocking: must be true or false");
  CHECK(configured(R"({"historyLength":-1})") ==
        "params.configuration.historyLength: must be a whole number of at least 0");
  CHECK(configured(R"({"pushNotificationConfig":{"url":"ftp://x"}})") ==
        "params.configuration.pushNotificationConfig.url: must be an http or https URL");
}

TEST_CASE("A2A 0.3 task: it is written in the schema's form") {
  task::Task value = bare_task(task::State::auth_required);
  CHECK(task_shown(dialect, value) ==
        R"({"kind":"task","id":"t1","contextId":"c1",)"
        R"("status":{"state":"auth-required","timestamp":"1970-01-01T00:00:00.000Z"}})");
  value = rich_task(task::State::rejected);
  value.status.message.reset();
  value.artifacts[0].parts.resize(1);
  value.history.resize(1);
  value.history[0].parts.resize(2);
  CHECK(
      task_shown(dialect, value) ==
      R"({"kind":"task","id":"t1","contextId":"c1",)"
      R"("status":{"state":"rejected","timestamp":"1970-01-01T00:00:01.000Z"},)"
      R"("artifacts":[{"artifactId":"a1","name":"answer","description":"what was asked","parts":[)"
      R"({"kind":"text","text":"hi","metadata":{"filename":"a.md","mediaType":"text/markdown", "a" : 1.0 }}],)"
      R"("metadata":{"k":true},"extensions":["https://x.example/ext"]}],)"
      R"("history":[{"kind":"message","messageId":"m1","role":"user","taskId":"t1","contextId":"c1","parts":[)"
      R"({"kind":"text","text":"hi","metadata":{"filename":"a.md","mediaType":"text/markdown", "a" : 1.0 }},)"
      R"({"kind":"file","file":{"name":"a.txt","mimeType":"text/plain","bytes":"aGk="}}],)"
      R"("metadata":{"m":[1, 2]},"extensions":["https://x.example/ext"],"referenceTaskIds":["t0"]}],)"
      R"("metadata":{ "origin" : "test" }})");
}

TEST_CASE("A2A 0.3 events: streamed text is one artifact with the reply's id") {
  CHECK(
      shown(dialect, {{3}, {}, task::TextDelta{{"r"}, 2, "he", true, false}}) ==
      R"({"kind":"artifact-update","taskId":"t1","contextId":"c1",)"
      R"("artifact":{"artifactId":"r","parts":[{"kind":"text","text":"he"}]},"append":false,"lastChunk":false})");
  const std::string end = shown(dialect, {{4}, {}, task::TextDelta{{"r"}, 2, "", false, true}});
  CHECK(has(end, R"("append":true,"lastChunk":true)"));
}

TEST_CASE("A2A 0.3 events: tool use is shown as working, with its details as data") {
  const std::string call =
      shown(dialect, {{5}, base::from_ms(0), task::ToolCall{"k", "look", {R"({ "q":1 })"}, false}});
  CHECK(call ==
        R"({"kind":"status-update","taskId":"t1","contextId":"c1","status":{"state":"working","message":)"
        R"({"kind":"message","messageId":"t1-event-5","role":"agent","taskId":"t1","contextId":"c1","parts":)"
        R"([{"kind":"data","data":{"toolCall":{"id":"k","name":"look","arguments":{ "q":1 }}}}]},)"
        R"("timestamp":"1970-01-01T00:00:00.000Z"},"final":false})");
  CHECK(has(shown(dialect, {{6}, {}, task::ToolResult{"k", {"[1]"}, ""}}),
            R"("data":{"toolResult":{"id":"k","content":[1]}})"));
}

TEST_CASE("A2A 0.3 events: messages and events without a form in the version are not shown") {
  CHECK(shown(dialect, {{1}, {}, task::MessageAdded{rich_message(task::Role::agent)}}).empty());
  CHECK(shown(dialect, {{1}, {}, task::Step{"s", task::Step::Phase::start}}).empty());
  CHECK(shown(dialect, {{1}, {}, task::Withdrawn{{{"a"}}}}).empty());
  CHECK(shown(dialect, {{1}, {}, task::Custom{"n", {"{}"}}}).empty());
}

TEST_CASE("A2A 0.3 streams: they begin with the Task, which has no final") {
  CHECK(dialect.stream_begins_with_task());
  const std::string first =
      written([](json::Writer& out) { dialect.write_first(out, bare_task(task::State::completed), true); });
  CHECK(first == task_shown(dialect, bare_task(task::State::completed)));
}

TEST_CASE("A2A 0.3 push config: one that was set over 0.1 has its id and all its schemes") {
  const auto document = parsed(R"({"id":"t1","pushNotificationConfig":{"url":"https://h/","authentication":)"
                               R"({"schemes":["jwt","basic"],"credentials":"c","x":[1, 2]}}})");
  const auto read = value_of(protocol::a2a::v0_1().read_push(document.root()));
  CHECK(written([&](json::Writer& out) { dialect.write_push(out, read.task, read.config); }) ==
        R"({"taskId":"t1","pushNotificationConfig":{"id":"t1","url":"https://h/",)"
        R"("authentication":{"schemes":["jwt","basic"],"credentials":"c"}}})");
}

TEST_CASE("A2A 0.3 push config: without an id it gets the task's id") {
  const auto document = parsed(R"({"taskId":"t1","pushNotificationConfig":{"url":"https://h/"}})");
  CHECK(value_of(dialect.read_push(document.root())).config.id.value == "t1");
  const auto inline_config = [](const std::string& task) {
    return send(dialect, R"({"message":{"messageId":"m","role":"user","taskId":")" + task +
                             R"(","parts":[{"text":"x"}]},)" +
                             R"("configuration":{"pushNotificationConfig":{"url":"https://h/"}}})")
        .submission.push;
  };
  CHECK(inline_config("t1")->id.value == "t1");
  CHECK(inline_config("")->id.empty());  // the new task's id, once it has one
}

}  // namespace v0_3_test
