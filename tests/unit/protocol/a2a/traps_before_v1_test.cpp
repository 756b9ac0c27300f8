// JSON-RPC objects that look alike in the versions before 1.0 but differ.
#include "dialect_bench.h"

namespace traps_before_v1_test {

using namespace baton;
using namespace baton::test;
using protocol::a2a::dual;
using protocol::a2a::v0_1;
using protocol::a2a::v0_3;

namespace {

// The params of a send with one part, in either version.
std::string params_with(const Dialect& dialect, const std::string& part) {
  const std::string message = R"("message":{"role":"user","messageId":"m","parts":[)" + part + "]}";
  return &dialect == &v0_1() ? R"({"id":"t1",)" + message + "}" : "{" + message + "}";
}

task::Part part_of(const Dialect& dialect, const std::string& part) {
  return send(dialect, params_with(dialect, part)).submission.message.parts.at(0);
}

std::string message_shown(const Dialect& dialect, const task::Part& part) {
  task::Message message;
  message.id.value = "m";
  message.parts.push_back(part);
  return shown(dialect, {{1}, {}, task::StatusChanged{{task::State::working, message, {}}, {}}});
}

std::optional<int> history_of(const Dialect& dialect, const std::string& length) {
  const auto document =
      parsed(R"({"id":"t1")" + (length.empty() ? "" : R"(,"historyLength":)" + length) + "}");
  return value_of(dialect.read_task_request(document.root())).history_length;
}

}  // namespace

TEST_CASE("A2A before 1.0: answers to shared methods have the members of all these versions") {
  const std::string shown_to_all = task_shown(dual(), rich_task(task::State::completed));
  for (const char* member : {R"("kind":"task")", R"("sessionId":"c1")", R"("contextId":"c1")", R"("index":3)",
                             R"("artifactId":"a1")", R"("type":"text","kind":"text")"}) {
    CAPTURE(member);
    CHECK(has(shown_to_all, member));
  }
}

TEST_CASE("A2A before 1.0: parts are read with type, with kind and with neither") {
  for (const Dialect* dialect : {&v0_1(), &v0_3(), &dual()}) {
    for (const char* tag : {R"("type":"text",)", R"("kind":"text",)", ""}) {
      CAPTURE(tag);
      CHECK(part_of(*dialect, std::string("{") + tag + R"("text":"x"})").content == "x");
    }
    CHECK(part_of(*dialect, R"({"file":{"uri":"https://x"}})").kind == task::Part::Kind::url);
    CHECK(part_of(*dialect, R"({"data":{}})").kind == task::Part::Kind::data);
  }
}

TEST_CASE("A2A before 1.0: blocking is used as given, and without it the agent's card decides") {
  const auto waits = [](const std::string& configuration) {
    return send(v0_3(),
                R"({"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]})" + configuration + "}")
        .waits;
  };
  CHECK(waits(R"(,"configuration":{"blocking":true})") == true);
  CHECK(waits(R"(,"configuration":{"blocking":false})") == false);
  CHECK_FALSE(waits(R"(,"configuration":{})"));
  CHECK_FALSE(waits(""));
}

TEST_CASE("A2A before 1.0: the whole list of schemes is kept") {
  const auto document = parsed(R"({"taskId":"t1","pushNotificationConfig":{"id":"p","url":"https://h/",)"
                               R"("authentication":{"schemes":["Bearer","Basic"],"credentials":"c"}}})");
  const auto read = value_of(v0_3().read_push(document.root()));
  CHECK(read.config.schemes == std::vector<std::string>{"Bearer", "Basic"});
  CHECK(has(written([&](json::Writer& out) { v0_3().write_push(out, read.task, read.config); }),
            R"("schemes":["Bearer","Basic"])"));
}

TEST_CASE("A2A before 1.0: chunk flags are in the artifact in 0.1 and in the event from 0.2 on") {
  task::ArtifactChunk chunk{rich_artifact(), true, false};
  chunk.artifact.parts.resize(1);
  const std::string old = shown(v0_1(), {{1}, {}, chunk}), newer = shown(v0_3(), {{1}, {}, chunk});
  CHECK(has(old, R"("index":3,"append":true,"lastChunk":false)"));
  CHECK(old.ends_with("}}"));
  CHECK_FALSE(has(old, "artifactId"));
  CHECK(newer.ends_with(R"(},"append":true,"lastChunk":false})"));
  CHECK(has(newer, R"("artifactId":"a1")"));
  CHECK_FALSE(has(newer, "index"));
}

TEST_CASE("A2A before 1.0: the task is params.id, except in pushNotificationConfig/set") {
  const auto set = parsed(R"({"id":"t1","pushNotificationConfig":{"url":"https://h/"}})");
  CHECK(value_of(v0_1().read_push(set.root())).task.value == "t1");
  CHECK(error_of(v0_3().read_push(set.root())) == "params.taskId: must be a string");
  const auto named = parsed(R"({"id":"t1","pushNotificationConfigId":"p1"})");
  const auto ref = value_of(v0_3().read_push_ref(named.root()));
  CHECK(ref.task.value == "t1");
  CHECK(ref.config.value == "p1");
  const auto misnamed = parsed(R"({"taskId":"t1"})");
  CHECK(error_of(v0_3().read_push_ref(misnamed.root())) == "params.id: must be a string");
}

TEST_CASE("A2A before 1.0: a list of push configs is a bare array in JSON-RPC") {
  task::PushConfig one, other;
  one.id.value = "p1";
  one.url = other.url = "https://h/";
  other.id.value = "p2";
  CHECK(written([&](json::Writer& out) {
          v0_3().write_pushes(out, {"t1"}, {one, other});
        }) == R"([{"taskId":"t1","pushNotificationConfig":{"id":"p1","url":"https://h/"}},)"
              R"({"taskId":"t1","pushNotificationConfig":{"id":"p2","url":"https://h/"}}])");
  CHECK(written([](json::Writer& out) { v0_3().write_pushes(out, {"t1"}, {}); }) == "[]");
  CHECK(written([](json::Writer& out) { v0_3().write_push_deleted(out); }) == "null");
}

TEST_CASE("A2A before 1.0: the answer to a send is a bare task with its kind") {
  const task::Task task = rich_task(task::State::completed);
  CHECK(written([&](json::Writer& out) { v0_3().write_sent(out, task); }) == task_shown(v0_3(), task));
  CHECK(task_shown(v0_3(), task).starts_with(R"({"kind":"task","id":"t1")"));
}

TEST_CASE("A2A before 1.0: streams of 0.2 and 0.3 end at input-required but not at auth-required") {
  CHECK(v0_3().stream_ends_at(task::State::input_required));
  CHECK_FALSE(v0_3().stream_ends_at(task::State::auth_required));
  CHECK(v0_3().stream_ends_at(task::State::canceled));
}

TEST_CASE("A2A before 1.0: a task always has its contextId from 0.2 on") {
  task::Task task = bare_task(task::State::working);
  task.context = {};
  CHECK(has(task_shown(v0_3(), task), R"("contextId":"")"));
  CHECK(has(task_shown(dual(), task), R"("contextId":"")"));
  CHECK_FALSE(has(task_shown(v0_1(), task), "sessionId"));
}

TEST_CASE("A2A before 1.0: a message without parts is refused") {
  for (const Dialect* dialect : {&v0_1(), &v0_3()}) {
    CHECK(send_error(*dialect, params_with(*dialect, "")) == "params.message.parts: must not be empty");
  }
}

TEST_CASE("A2A before 1.0: input-required is final only if it ends the stream") {
  CHECK(has(status_shown(v0_3(), task::State::input_required, true), R"("final":true)"));
  CHECK(has(status_shown(v0_3(), task::State::input_required, false), R"("final":false)"));
  CHECK(has(status_shown(v0_3(), task::State::rejected, false), R"("final":true)"));
}

TEST_CASE("A2A before 1.0: a stream begins with the Task only from 0.2 on") {
  CHECK_FALSE(v0_1().stream_begins_with_task());
  CHECK(v0_3().stream_begins_with_task());
}

TEST_CASE("A2A before 1.0: 0.3 sends refusals within the stream, 0.1 does not") {
  CHECK(v0_3().refuses_in_stream());
  CHECK_FALSE(v0_1().refuses_in_stream());
}

TEST_CASE("A2A before 1.0: an absent historyLength and 0 differ from 0.2 on") {
  CHECK(history_of(v0_1(), "") == 0);
  CHECK(history_of(v0_1(), "0") == 0);
  CHECK_FALSE(history_of(v0_3(), ""));
  CHECK_FALSE(history_of(v0_3(), "null"));
  CHECK(history_of(v0_3(), "0") == 0);
  CHECK(history_of(v0_3(), "2") == 2);
  const auto negative = parsed(R"({"id":"t1","historyLength":-1})");
  CHECK(error_of(v0_3().read_task_request(negative.root())) ==
        "params.historyLength: must be a whole number of at least 0");
}

TEST_CASE("A2A before 1.0: unknown members are ignored") {
  const std::string more = R"("whatever":{"deep":[null]},)";
  const std::string part = "[{" + more + R"("text":"x"}])";
  for (const Dialect* dialect : {&v0_1(), &v0_3(), &dual(), &protocol::a2a::v0_3_rest()}) {
    const bool in_proto = dialect == &protocol::a2a::v0_3_rest();
    const std::string message = R"("message":{)" + more + R"("messageId":"m","role":")" +
                                (in_proto ? "ROLE_USER" : "user") + R"(",")" +
                                (in_proto ? "content" : "parts") + R"(":)" + part + "}";
    CHECK(
        send(*dialect, "{" + more + R"("id":"t1",)" + message + "}").submission.message.parts.at(0).content ==
        "x");
  }
}

TEST_CASE("A2A before 1.0: webhooks before 1.0 get the whole task") {
  const task::Task task = rich_task(task::State::input_required);
  const task::Event event{{4}, {}, task::StatusChanged{task.status, {}}};
  for (const task::ProtocolVersion version :
       {task::ProtocolVersion::v0_1, task::ProtocolVersion::v0_2, task::ProtocolVersion::v0_3}) {
    const Dialect& dialect = protocol::a2a::dialect_of(version);
    CHECK(&dialect == (version == task::ProtocolVersion::v0_1 ? &v0_1() : &v0_3()));
    CHECK(written([&](json::Writer& out) { dialect.write_webhook(out, task, event); }) ==
          task_shown(dialect, task));
    CHECK(dialect.webhook_shows_task());
    CHECK(dialect.webhook_content_type() == "application/json");
  }
}

TEST_CASE("A2A before 1.0: a push config may be requested without its id") {
  const auto document = parsed(R"({"id":"t1"})");
  CHECK(value_of(v0_3().read_push_ref(document.root())).config.empty());
}

TEST_CASE("A2A before 1.0: a send to a task that has ended is -32602 before 1.0") {
  CHECK(v0_3().refusal_when_ended() == base::ErrorCode::invalid_argument);
}

TEST_CASE("A2A before 1.0: data other than an object is wrapped and marked, and unwrapped only if both") {
  const task::Part list{task::Part::Kind::data, "[1, 2]", {}, {}, {R"({"k":1})"}};
  CHECK(has(message_shown(v0_3(), list),
            R"({"kind":"data","data":{"value":[1, 2]},"metadata":{"data_part_compat":true,"k":1}})"));
  CHECK(has(message_shown(dual(), list), R"("metadata":{"data_part_compat":true,"k":1})"));

  const task::Part back = part_of(
      v0_3(), R"({"kind":"data","data":{"value":[1, 2]},"metadata":{"data_part_compat":true,"k":1}})");
  CHECK(back == list);
  CHECK(part_of(v0_3(), R"({"data":{"value":null},"metadata":{"data_part_compat":true}})") ==
        task::Part{task::Part::Kind::data, "null", {}, {}, {}});
  // Data that is only wrapped or only marked is an ordinary object.
  for (const std::string part :
       {R"({"data":{"value":1},"metadata":{}})", R"({"data":{"v":1},"metadata":{"data_part_compat":true}})",
        R"({"data":{"value":1,"v":2},"metadata":{"data_part_compat":true}})"}) {
    CAPTURE(part);
    CHECK(part_of(v0_3(), part).content.starts_with("{\"v"));
  }
}

TEST_CASE("A2A before 1.0: numbers and order in metadata and data are kept") {
  const std::string raw = R"({ "n" : 12345678901234567890123, "b":1.0, "a":1e2 })";
  for (const Dialect* dialect : {&v0_1(), &v0_3(), &dual()}) {
    const task::Part part = part_of(*dialect, R"({"data":)" + raw + R"(,"metadata":)" + raw + "}");
    CHECK(has(message_shown(*dialect, part), R"("data":)" + raw + R"(,"metadata":)" + raw));
  }
}

TEST_CASE("A2A before 1.0: base64 is read in all forms and written in one") {
  for (const std::string bytes : {"-_-_-w==", "-_-_-w", "+/+/+w==", "+/+/+w"}) {
    CAPTURE(bytes);
    const task::Part part = part_of(v0_3(), R"({"kind":"file","file":{"bytes":")" + bytes + R"("}})");
    CHECK(has(message_shown(v0_3(), part), R"("bytes":"+/+/+w==")"));
  }
}

TEST_CASE("A2A before 1.0: a request's metadata becomes the task's") {
  const std::string part =
      R"("parts":[{"text":"x"}],"metadata":{"in":"message"}},"metadata":{ "in":"params" }})";
  for (const Dialect* dialect : {&v0_1(), &v0_3()}) {
    const auto submission =
        send(*dialect, R"({"id":"t1","message":{"messageId":"m","role":"user",)" + part).submission;
    CHECK(submission.metadata.text == R"({ "in":"params" })");
    CHECK(submission.message.metadata.text == R"({"in":"message"})");
  }
}

}  // namespace traps_before_v1_test
