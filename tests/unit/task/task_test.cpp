#include "task/task.h"

#include <doctest/doctest.h>

namespace task_test {

using namespace baton;
using task::Generation;
using task::webhook_hears;

TEST_CASE("Webhooks: every generation hears of statuses, only 1.0 of what its streams show beside them") {
  const task::EventBody output[] = {task::TextDelta{}, task::ArtifactChunk{}, task::ToolCall{},
                                    task::ToolResult{}};
  for (const auto generation :
       {Generation::v0_1, Generation::v0_2, Generation::v0_3, Generation::v1_0, Generation::none}) {
    CHECK(webhook_hears(generation, task::StatusChanged{}));
    const bool all = generation == Generation::v1_0 || generation == Generation::none;
    for (const task::EventBody& body : output) CHECK(webhook_hears(generation, body) == all);
  }
}

TEST_CASE("Webhooks: what no A2A shows is heard in no generation") {
  const task::EventBody silent[] = {
      task::MessageAdded{}, task::StateSnapshot{},  task::StateDelta{}, task::Step{},     task::Withdrawn{},
      task::Custom{},       task::ReasoningDelta{}, task::Activity{},   task::Subagent{}, task::Usage{}};
  for (const auto generation : {Generation::v0_1, Generation::v0_3, Generation::v1_0, Generation::none}) {
    for (const task::EventBody& body : silent) CHECK_FALSE(webhook_hears(generation, body));
  }
}

}  // namespace task_test
