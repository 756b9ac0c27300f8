#include "notify/webhook_body.h"

#include <doctest/doctest.h>

#include "json/document.h"
#include "support/memory_deliveries.h"

namespace webhook_body_test {

using namespace baton;
using task::ProtocolVersion;

namespace {

// One task with two events: the agent's text and the end.
class OneTask : public test::MemoryDeliveries {
 public:
  mutable int whole_reads = 0;

  base::Result<task::Task> read(task::TaskKey, const task::Depth&,
                                std::optional<task::EventNumber> as_of) const override {
    ++whole_reads;
    task::Task task;
    task.id = {"t1"};
    task.context = {"c1"};
    task.status.state = as_of->value < 2 ? task::State::working : task::State::completed;
    task.artifacts.push_back({{"a1"}, 0, {}, {}, {task::Part::of_text("hello")}, {}, {}});
    return task;
  }
  base::Result<task::TaskHead> head(task::TaskKey) const override {
    task::TaskHead head;
    head.id = {"t1"};
    head.context = {"c1"};
    return head;
  }
  base::Result<std::vector<task::Event>> events(task::TaskKey, task::EventNumber after, int) const override {
    const std::vector<task::EventBody> log{task::TextDelta{{"a1"}, 0, "hello", true, true},
                                           task::StatusChanged{{task::State::completed, {}, {}}, {}}};
    std::vector<task::Event> rest;
    for (std::size_t i = static_cast<std::size_t>(after.value); i < log.size(); ++i) {
      rest.push_back({{static_cast<std::int64_t>(i) + 1}, {}, log[i]});
    }
    return rest;
  }
};

// A task of many bytes.
class LargeTask : public OneTask {
 public:
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of) const override {
    if (depth.bytes_max < kBytes) return base::fail(base::ErrorCode::too_large, "too large");
    return OneTask::read(key, depth, as_of);
  }
  base::Result<task::TaskHead> head(task::TaskKey key) const override {
    auto head = OneTask::head(key);
    head->bytes = kBytes;
    return head;
  }

 private:
  static constexpr std::size_t kBytes = 40 << 20;
};

store::Delivery delivery(ProtocolVersion version, std::int64_t event) {
  store::Delivery result;
  result.task = {7};
  result.event = {event};
  result.config.version = version;
  return result;
}

}  // namespace

TEST_CASE("render_a2a: before 1.0 a webhook gets the whole task as it was just after the event") {
  const OneTask tasks;
  for (const ProtocolVersion version :
       {ProtocolVersion::v0_1, ProtocolVersion::v0_2, ProtocolVersion::v0_3}) {
    const auto rendered = notify::render_a2a(tasks, delivery(version, 2));
    REQUIRE(rendered);
    CHECK(rendered->task.value == "t1");
    CHECK(rendered->body.content_type == "application/json");
    const auto document = json::Document::parse(rendered->body.bytes);
    REQUIRE(document);
    CHECK(document->root()["id"].string() == "t1");
    CHECK(document->root()["status"]["state"].string() == "completed");
    CHECK(document->root()["artifacts"].size() == 1);
    CHECK(document->root()["kind"].missing() == (version == ProtocolVersion::v0_1));
  }
}

TEST_CASE("render_a2a: in 1.0 a webhook gets only the event, and the task is not read") {
  const OneTask tasks;
  const auto text = notify::render_a2a(tasks, delivery(ProtocolVersion::v1_0, 1));
  const auto end = notify::render_a2a(tasks, delivery(ProtocolVersion::v1_0, 2));
  REQUIRE(text);
  REQUIRE(end);
  CHECK(text->body.content_type == "application/a2a+json");
  const auto chunk = json::Document::parse(text->body.bytes);
  REQUIRE(chunk);
  CHECK(chunk->root()["artifactUpdate"]["taskId"].string() == "t1");
  CHECK(chunk->root()["artifactUpdate"]["contextId"].string() == "c1");
  CHECK(chunk->root()["artifactUpdate"]["artifact"]["artifactId"].string() == "a1");
  const auto status = json::Document::parse(end->body.bytes);
  REQUIRE(status);
  CHECK(status->root()["statusUpdate"]["status"]["state"].string() == "TASK_STATE_COMPLETED");
  CHECK(tasks.whole_reads == 0);
}

TEST_CASE("render_a2a: a deleted event is not found") {
  const OneTask tasks;
  const auto gone = notify::render_a2a(tasks, delivery(ProtocolVersion::v1_0, 3));
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == base::ErrorCode::not_found);
}

TEST_CASE(
    "render_a2a: a large body that finds no room fails as overloaded, until those before it were sent") {
  const LargeTask large;
  const OneTask small;
  auto first = notify::render_a2a(large, delivery(ProtocolVersion::v0_3, 2));
  REQUIRE(first);
  const auto second = notify::render_a2a(large, delivery(ProtocolVersion::v0_3, 2));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == base::ErrorCode::overloaded);
  CHECK(notify::render_a2a(small, delivery(ProtocolVersion::v0_3, 2)));
  first->held.reset();
  CHECK(notify::render_a2a(large, delivery(ProtocolVersion::v0_3, 2)));
}

}  // namespace webhook_body_test
