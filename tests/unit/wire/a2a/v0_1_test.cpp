#include "wire/a2a/v0_1.h"

#include <doctest/doctest.h>

using namespace baton;
using wire::Document;
using wire::Writer;
namespace v0_1 = wire::v0_1;

namespace {

// The error of reading these send params, or "".
std::string send_error(const std::string& params) {
  const auto document = Document::parse(params);
  REQUIRE(document);
  const auto read = v0_1::read_send(document->root());
  return read ? "" : read.error().for_caller;
}

v0_1::SendParams send(const std::string& params) {
  const auto document = Document::parse(params);
  REQUIRE(document);
  auto read = v0_1::read_send(document->root());
  REQUIRE_MESSAGE(read, read.error().for_caller);
  return std::move(*read);
}

std::string shown(const task::Event& event) {
  std::string out;
  Writer writer(out);
  return v0_1::write_event(writer, {"t1"}, event) ? out : "";
}

}  // namespace

TEST_CASE("A2A 0.1 send: everything in the request is read") {
  const auto params = send(
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
}

TEST_CASE("A2A 0.1 send: the shapes of hand-written clients are read") {
  CHECK(send(R"({"id":7,"message":{"role":"user","data":[{"type":"text","text":"x"}]}})")
            .submission.task.value == "7");
  const auto loose = send(
      R"({"id":"t","message":{"parts":[{"text":"x"},{"kind":"text","text":"y"},{"file":{"data":"aGk"}},{"data":{}}]},)"
      R"("pushNotification":{"url":"http://h","authentication":{"schemes":"bearer"}}})");
  CHECK(loose.submission.message.parts.size() == 4);
  CHECK(loose.submission.message.parts[2].content == "aGk=");
  CHECK(loose.submission.push->schemes == std::vector<std::string>{"bearer"});
}

TEST_CASE("A2A 0.1 send: what is wrong is named") {
  const std::string message = R"("message":{"role":"user","parts":[{"type":"text","text":"x"}]})";
  CHECK(send_error("{" + message + "}") == "params.id: must be a string");
  CHECK(send_error(R"({"id":"",)" + message + "}") == "params.id: must not be empty");
  CHECK(send_error(R"({"id":1.5,)" + message + "}") == "params.id: must be a string");
  CHECK(send_error(R"({"id":"a","id":"b",)" + message + "}") == "params.id: given more than once");
  CHECK(send_error(R"({"id":"a"})") == "params.message: must be an object");
  CHECK(send_error(R"({"id":"a","message":{"parts":[]}})") == "params.message.parts: must not be empty");
  CHECK(send_error(R"({"id":"a","message":{"parts":[{"type":"text"}]}})") ==
        "params.message.parts[0].text: must be a string");
  CHECK(send_error(R"({"id":"a","message":{"parts":[{"type":"file","file":{"bytes":"!"}}]}})") ==
        "params.message.parts[0].file.bytes: is not base64");
  CHECK(send_error(R"({"id":"a","message":{"parts":[{"type":"file","file":{"bytes":"aGk=","uri":"x"}}]}})") ==
        "params.message.parts[0].file: exactly one of bytes and uri is needed");
  CHECK(send_error(R"({"id":"a","historyLength":-1,)" + message + "}") ==
        "params.historyLength: must be a whole number from 0");
  CHECK(send_error(R"({"id":"a","metadata":[],)" + message + "}") == "params.metadata: must be an object");
  CHECK(send_error(R"({"id":"a","message":{"parts":[{"type":5,"text":"x"}]}})") ==
        "params.message.parts[0].type: must be a string");
  for (const std::string url :
       {"ftp://x", "http://", "https:///x", "http://u:p@h/", "http://h/\\r\\nX: y", "http://h /"}) {
    CAPTURE(url);
    CHECK(send_error(R"({"id":"a","pushNotification":{"url":")" + url + R"("},)" + message + "}") ==
          "params.pushNotification.url: must be an http or https URL");
  }
  CHECK(send_error(R"({"id":"a","pushNotification":{"url":"http://h","token":"a\r\nb"},)" + message + "}") ==
        "params.pushNotification.token: must not have control characters");
}

TEST_CASE("A2A 0.1 task: is written in the schema's shape") {
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
  std::string out;
  Writer writer(out);
  v0_1::write_task(writer, value);
  CHECK(
      out ==
      R"({"id":"t1","sessionId":"c1","status":{"state":"completed","timestamp":"1970-01-01T00:00:00.000Z"},)"
      R"("artifacts":[{"name":"joke","parts":[{"type":"text","text":"ha"}],"index":0}],"metadata":{}})");
}

TEST_CASE("A2A 0.1 events: streamed text is an artifact in pieces") {
  CHECK(
      shown({{3}, {}, task::TextDelta{{"r"}, 2, "he", true, false}}) ==
      R"({"id":"t1","artifact":{"parts":[{"type":"text","text":"he"}],"index":2,"append":false,"lastChunk":false}})");
  CHECK(
      shown({{4}, {}, task::TextDelta{{"r"}, 2, "llo", false, true}}) ==
      R"({"id":"t1","artifact":{"parts":[{"type":"text","text":"llo"}],"index":2,"append":true,"lastChunk":true}})");
}

TEST_CASE("A2A 0.1 events: final is said where a stream ends, and states it lacks are renamed") {
  const auto status = [](task::State state) {
    return shown({{1}, {}, task::StatusChanged{{state, std::nullopt, {}}, {}}});
  };
  CHECK(status(task::State::working).find(R"("final":false)") != std::string::npos);
  CHECK(status(task::State::input_required).find(R"("final":true)") != std::string::npos);
  const std::string rejected = status(task::State::rejected);
  CHECK(rejected.find(R"("state":"failed")") != std::string::npos);
  CHECK(rejected.find(R"("metadata":{"state":"rejected"})") != std::string::npos);
  CHECK(status(task::State::auth_required).find(R"("state":"input-required")") != std::string::npos);
}

TEST_CASE("A2A 0.1 events: what the generation cannot say is not shown") {
  CHECK(shown({{1}, {}, task::MessageAdded{}}).empty());
  CHECK(shown({{1}, {}, task::Step{"s", task::Step::Phase::start}}).empty());
  CHECK(shown({{1}, {}, task::StateSnapshot{{"{}"}}}).empty());
}

TEST_CASE("A2A 0.1 parts: data that is no object is wrapped, a text's media type moves into its metadata") {
  task::Message message;
  message.parts.push_back(task::Part::of_data({"[1]"}));
  task::Part text = task::Part::of_text("x");
  text.media_type = "text/markdown";
  text.metadata.text = R"({ "a":1 })";
  message.parts.push_back(text);
  const std::string out = shown({{1}, {}, task::StatusChanged{{task::State::working, message, {}}, {}}});
  CHECK(out.find(R"({"type":"data","data":{"value":[1]}})") != std::string::npos);
  CHECK(out.find(R"("metadata":{"mediaType":"text/markdown", "a":1 })") != std::string::npos);
}

TEST_CASE("A2A 0.1 push config: comes back as it was given") {
  const std::string params =
      R"({"id":"t1","pushNotificationConfig":{"url":"https://h/","token":"t","authentication":{"schemes":["jwt"],"credentials":"c","x":[1, 2]}}})";
  const auto document = Document::parse(params);
  REQUIRE(document);
  const auto read = v0_1::read_push(document->root());
  REQUIRE(read);
  std::string out;
  Writer writer(out);
  v0_1::write_push(writer, read->id, read->config);
  CHECK(out == params);
}
