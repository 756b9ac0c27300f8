#include "dialect_bench.h"

namespace dual_test {

using namespace baton;
using namespace baton::test;

namespace {

const Dialect& dual = protocol::a2a::dual();

}  // namespace

TEST_CASE("A2A dual task: it has the tags of all versions before 1.0") {
  task::Task task = rich_task(task::State::working);
  task.status.message.reset();
  task.history.clear();
  task.metadata = {};
  task.artifacts[0].parts = {task::Part::of_text("hi")};
  CHECK(task_shown(dual, task) ==
        R"({"kind":"task","id":"t1","sessionId":"c1","contextId":"c1",)"
        R"("status":{"state":"working","timestamp":"1970-01-01T00:00:01.000Z"},)"
        R"("artifacts":[{"artifactId":"a1","name":"answer","description":"what was asked",)"
        R"("parts":[{"type":"text","kind":"text","text":"hi"}],"index":3,)"
        R"("metadata":{"k":true},"extensions":["https://x.example/ext"]}]})");
}

TEST_CASE("A2A dual task: states that 0.1 lacks are renamed in its tasks, and kept in the metadata") {
  task::Task rejected = bare_task(task::State::rejected);
  rejected.origin = task::ProtocolVersion::v0_1;
  CHECK(task_shown(dual, rejected) ==
        R"({"kind":"task","id":"t1","sessionId":"c1","contextId":"c1","status":{"state":"failed","message":)"
        R"({"kind":"message","messageId":"t1-rejected","role":"agent","taskId":"t1","contextId":"c1",)"
        R"("parts":[{"type":"text","kind":"text","text":"rejected"}],"metadata":{"state":"rejected"}},)"
        R"("timestamp":"1970-01-01T00:00:00.000Z"}})");
  task::Task asking = rich_task(task::State::auth_required);
  asking.origin = task::ProtocolVersion::v0_1;
  const std::string waiting = task_shown(dual, asking);
  CHECK(has(waiting, R"("state":"input-required","message":{"kind":"message","messageId":"m2")"));
  CHECK(has(waiting, R"("metadata":{"state":"auth-required","m":[1, 2]})"));
}

TEST_CASE("A2A dual task: the states of newer clients' tasks keep their names") {
  CHECK(has(task_shown(dual, bare_task(task::State::rejected)), R"("status":{"state":"rejected")"));
  CHECK(has(task_shown(dual, rich_task(task::State::auth_required)), R"("state":"auth-required")"));
}

TEST_CASE("A2A dual events: they have the tags of all versions before 1.0") {
  CHECK(status_shown(dual, task::State::working) ==
        R"({"kind":"status-update","id":"t1","taskId":"t1","contextId":"c1",)"
        R"("status":{"state":"working","timestamp":"1970-01-01T00:00:00.000Z"},"final":false})");
  CHECK(shown(dual, {{2}, {}, task::TextDelta{{"r"}, 1, "he", true, false}}) ==
        R"({"kind":"artifact-update","id":"t1","taskId":"t1","contextId":"c1","artifact":{"artifactId":"r",)"
        R"("parts":[{"type":"text","kind":"text","text":"he"}],"index":1,"append":false,"lastChunk":false},)"
        R"("append":false,"lastChunk":false})");
}

TEST_CASE("A2A dual subscription: its first item is both a Task and a status event of 0.1") {
  const std::string first =
      written([](json::Writer& out) { dual.write_first(out, bare_task(task::State::completed), true); });
  CHECK(has(first, R"({"kind":"task","id":"t1")"));
  CHECK(has(first, R"(},"final":true})"));
}

TEST_CASE("A2A dual get: an absent historyLength means all, and 0 means none") {
  const auto length = [](const std::string& params) {
    const auto document = parsed(params);
    return value_of(dual.read_task_request(document.root())).history_length;
  };
  CHECK_FALSE(length(R"({"id":"t1"})"));
  CHECK(length(R"({"id":"t1","historyLength":0})") == 0);
  CHECK(length(R"({"id":7,"historyLength":2})") == 2);
}

}  // namespace dual_test
