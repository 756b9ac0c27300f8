#include "dialect_bench.h"

namespace v0_1_test {

using namespace baton;
using namespace baton::test;

namespace {

const Dialect& era = protocol::a2a::v0_1();

}  // namespace

TEST_CASE("A2A 0.1 send: everything in the request is read") {
  const auto params = send(
      era,
      R"({"id":"t1","sessionId":"c1","historyLength":3,"metadata":{ "k" : 1 },"acceptedOutputModes":["text"],)"
      R"("message":{"role":"user","metadata":{"m":[1, 2]},"parts":[{"type":"text","text":"hi","metadata":{}},)"
      R"({"type":"file","file":{"name":"a","mimeType":"x/y","bytes":"aGk="}},)"
      R"({"type":"file","file":{"uri":"https://x"}},{"type":"data","data":{ "a":1.0 }}]},)"
      R"("pushNotification":{"url":"https://h/","token":"t","authentication":{"schemes":["bearer"],"credentials":"c"}}})");
  const task::Submission& submission = params.submission;
  CHECK(submission.task.value == "t1");
  CHECK(submission.context.value == "c1");
  CHECK(submission.metadata.text == R"({ "k" : 1 })");
  CHECK(submission.message.metadata.text == R"({"m":[1, 2]})");
  REQUIRE(submission.message.parts.size() == 4);
  CHECK(submission.message.parts[0].content == "hi");
  CHECK(submission.message.parts[1].kind == task::Part::Kind::raw);
  CHECK(submission.message.parts[2].kind == task::Part::Kind::url);
  CHECK(submission.message.parts[3].content == R"({ "a":1.0 })");
  CHECK(params.history_length == 3);
  REQUIRE(submission.push);
  CHECK(submission.push->credentials == "c");
  CHECK(submission.when_unknown == task::WhenUnknown::create);
  CHECK(submission.when_ended == task::WhenEnded::reopen);
  CHECK(submission.when_context_differs == task::WhenContextDiffers::ignore);
}

TEST_CASE("A2A 0.1 send: the forms of hand-written clients are read") {
  CHECK(send(era, R"({"id":7,"message":{"role":"user","data":[{"type":"text","text":"x"}]}})")
            .submission.task.value == "7");
  const auto loose = send(
      era,
      R"({"id":"t","message":{"parts":[{"text":"x"},{"kind":"text","text":"y"},{"file":{"data":"aGk"}},{"data":{}}]},)"
      R"("pushNotification":{"url":"http://h","authentication":{"schemes":"bearer"}}})");
  CHECK(loose.submission.message.parts.size() == 4);
  CHECK(loose.submission.message.parts[2].content == "aGk=");
  CHECK(loose.submission.push->schemes == std::vector<std::string>{"bearer"});
  const auto nulls = send(
      era,
      R"({"id":"t","sessionId":null,"historyLength":null,"metadata":null,"pushNotification":null,"message":)"
      R"({"role":"user","metadata":null,"parts":[{"type":"text","text":"x","metadata":null}]}})");
  CHECK(nulls.submission.context.empty());
  CHECK(nulls.submission.metadata.empty());
  CHECK_FALSE(nulls.submission.push);
  CHECK(nulls.submission.message.parts.at(0) == task::Part::of_text("x"));
}

TEST_CASE("A2A 0.1 send: errors name the wrong member") {
  const std::string message = R"("message":{"role":"user","parts":[{"type":"text","text":"x"}]})";
  CHECK(send_error(era, "{" + message + "}") == "params.id: must be a string");
  CHECK(send_error(era, R"({"id":"",)" + message + "}") == "params.id: must not be empty");
  CHECK(send_error(era, R"({"id":1.5,)" + message + "}") == "params.id: must be a string");
  CHECK(send_error(era, R"({"id":"a","id":"b",)" + message + "}") == "params.id: is given more than once");
  CHECK(send_error(era, R"({"id":"a"})") == "params.message: must be an object");
  CHECK(send_error(era, R"({"id":"a","message":{"parts":[]}})") == "params.message.parts: must not be empty");
  CHECK(send_error(era, R"({"id":"a","message":{"parts":[{"type":"text"}]}})") ==
        "params.message.parts[0].text: must be a string");
  CHECK(send_error(era, R"({"id":"a","message":{"parts":[{"type":"file","file":{"bytes":"!"}}]}})") ==
        "params.message.parts[0].file.bytes: is not base64");
  CHECK(send_error(era,
                   R"({"id":"a","message":{"parts":[{"type":"file","file":{"bytes":"aGk=","uri":"x"}}]}})") ==
        "params.message.parts[0].file: exactly one of bytes and uri is required");
  CHECK(send_error(era, R"({"id":"a","historyLength":-1,)" + message + "}") ==
        "params.historyLength: must be a whole number of at least 0");
  CHECK(send_error(era, R"({"id":"a","metadata":[],)" + message + "}") ==
        "params.metadata: must be an object");
  CHECK(send_error(era, R"({"id":"a","message":{"parts":[{"type":5,"text":"x"}]}})") ==
        "params.message.parts[0].type: must be a string");
  for (const std::string url :
       {"ftp://x", "http://", "https:///x", "http://u:p@h/", "http://h/\\r\\nX: y", "http://h /"}) {
    CAPTURE(url);
    CHECK(send_error(era, R"({"id":"a","pushNotification":{"url":")" + url + R"("},)" + message + "}") ==
          "params.pushNotification.url: must be an http or https URL");
  }
  CHECK(send_error(era, R"({"id":"a","pushNotification":{"url":"http://h","token":"a\r\nb"},)" + message +
                            "}") == "params.pushNotification.token: must not contain control characters");
}

TEST_CASE("A2A 0.1 task: it is written in the schema's form") {
  task::Task value;
  value.id.value = "t1";
  value.context.value = "c1";
  value.status.state = task::State::completed;
  value.metadata.text = "{}";
  task::Artifact artifact;
  artifact.id.value = "hidden";
  artifact.name = "joke";
  artifact.parts.push_back(task::Part::of_text("ha"));
  value.artifacts.push_back(artifact);
  const std::string out = task_shown(era, value);
  CHECK(
      out ==
      R"({"id":"t1","sessionId":"c1","status":{"state":"completed","timestamp":"1970-01-01T00:00:00.000Z"},)"
      R"("artifacts":[{"name":"joke","parts":[{"type":"text","text":"ha"}],"index":0}],"metadata":{}})");
}

TEST_CASE("A2A 0.1 events: streamed text is an artifact in pieces") {
  CHECK(
      shown(era, {{3}, {}, task::TextDelta{{"r"}, 2, "he", true, false}}) ==
      R"({"id":"t1","artifact":{"parts":[{"type":"text","text":"he"}],"index":2,"append":false,"lastChunk":false}})");
  CHECK(
      shown(era, {{4}, {}, task::TextDelta{{"r"}, 2, "llo", false, true}}) ==
      R"({"id":"t1","artifact":{"parts":[{"type":"text","text":"llo"}],"index":2,"append":true,"lastChunk":true}})");
}

TEST_CASE("A2A 0.1 events: final is true where the task or a stream ends, and unknown states are renamed") {
  CHECK(has(status_shown(era, task::State::working), R"("final":false)"));
  CHECK(has(status_shown(era, task::State::input_required), R"("final":false)"));
  CHECK(has(status_shown(era, task::State::input_required, true), R"("final":true)"));
  CHECK(has(status_shown(era, task::State::completed), R"("final":true)"));
  const std::string rejected = status_shown(era, task::State::rejected);
  CHECK(has(rejected, R"("state":"failed")"));
  CHECK(has(rejected, R"("metadata":{"state":"rejected"})"));
  CHECK(has(status_shown(era, task::State::auth_required), R"("state":"input-required")"));
}

TEST_CASE("A2A 0.1 events: events without a form in the version are not shown") {
  CHECK(shown(era, {{1}, {}, task::MessageAdded{}}).empty());
  CHECK(shown(era, {{1}, {}, task::Step{"s", task::Step::Phase::start}}).empty());
  CHECK(shown(era, {{1}, {}, task::StateSnapshot{{"{}"}}}).empty());
}

TEST_CASE("A2A 0.1 parts: data other than an object is wrapped, and a text's media type is in its metadata") {
  task::Message message;
  message.parts.push_back(task::Part::of_data({"[1]"}));
  task::Part text = task::Part::of_text("x");
  text.media_type = "text/markdown";
  text.metadata.text = R"({ "a":1 })";
  message.parts.push_back(text);
  const std::string out = shown(era, {{1}, {}, task::StatusChanged{{task::State::working, message, {}}, {}}});
  CHECK(has(out, R"({"type":"data","data":{"value":[1]}})"));
  CHECK(has(out, R"("metadata":{"mediaType":"text/markdown", "a":1 })"));
}

TEST_CASE("A2A 0.1 push config: it is read back as it was set") {
  const std::string params =
      R"({"id":"t1","pushNotificationConfig":{"url":"https://h/","token":"t","authentication":{"schemes":["jwt"],"credentials":"c","x":[1, 2]}}})";
  const auto document = parsed(params);
  const auto read = value_of(era.read_push(document.root()));
  CHECK(read.config.version == task::ProtocolVersion::v0_1);
  CHECK(read.config.id.value == "t1");
  CHECK(written([&](json::Writer& out) { era.write_push(out, read.task, read.config); }) == params);
}

TEST_CASE("A2A 0.1 streams: they begin with events and end wherever the task stops") {
  CHECK_FALSE(era.stream_begins_with_task());
  CHECK(era.stream_ends_at(task::State::auth_required));
  CHECK(era.stream_ends_at(task::State::input_required));
  CHECK(era.stream_ends_at(task::State::rejected));
  CHECK_FALSE(era.stream_ends_at(task::State::working));
}

TEST_CASE("A2A 0.1 subscription: its first item is a Task that is a status event") {
  const task::Task task = bare_task(task::State::completed);
  const auto first = [&](bool last) {
    return written([&](json::Writer& out) { era.write_first(out, task, last); });
  };
  CHECK(
      first(true) ==
      R"({"id":"t1","sessionId":"c1","status":{"state":"completed","timestamp":"1970-01-01T00:00:00.000Z"},)"
      R"("final":true})");
  CHECK(has(first(false), R"("final":false)"));
}

TEST_CASE("A2A 0.1 get: a reader's last event is read from the metadata") {
  const auto document = parsed(R"({"id":"t1","historyLength":2,"metadata":{"lastEventId":7}})");
  const auto read = value_of(era.read_task_request(document.root()));
  CHECK(read.id.value == "t1");
  CHECK(read.history_length == 2);
  CHECK(read.last_event == task::EventNumber{7});
  const auto wrong = parsed(R"({"id":"t1","metadata":{"lastEventId":"7"}})");
  CHECK(error_of(era.read_task_request(wrong.root())) ==
        "params.metadata.lastEventId: must be a whole number of at least 0");
}

TEST_CASE("A2A 0.1 list: lists are unsupported") {
  const auto document = parsed("{}");
  const auto read = era.read_list(document.root());
  REQUIRE_FALSE(read);
  CHECK(read.error().code == base::ErrorCode::unsupported);
}

}  // namespace v0_1_test
