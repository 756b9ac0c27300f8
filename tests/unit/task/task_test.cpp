#include "task/task.h"

#include <doctest/doctest.h>

namespace task_test {

using namespace baton;
using task::ProtocolVersion;
using task::webhook_hears;

TEST_CASE("Webhooks: all versions are sent statuses, and only 1.0 is sent the other streamed events") {
  const task::EventBody output[] = {task::TextDelta{}, task::ArtifactChunk{}, task::ToolCall{},
                                    task::ToolResult{}};
  for (const auto version : {ProtocolVersion::v0_1, ProtocolVersion::v0_2, ProtocolVersion::v0_3,
                             ProtocolVersion::v1_0, ProtocolVersion::none}) {
    CHECK(webhook_hears(version, task::StatusChanged{}));
    const bool all = version == ProtocolVersion::v1_0 || version == ProtocolVersion::none;
    for (const task::EventBody& body : output) CHECK(webhook_hears(version, body) == all);
  }
}

TEST_CASE("Webhooks: events that A2A does not show are sent in no version") {
  const task::EventBody silent[] = {
      task::MessageAdded{}, task::StateSnapshot{},  task::StateDelta{}, task::Step{},     task::Withdrawn{},
      task::Custom{},       task::ReasoningDelta{}, task::Activity{},   task::Subagent{}, task::Usage{}};
  for (const auto version :
       {ProtocolVersion::v0_1, ProtocolVersion::v0_3, ProtocolVersion::v1_0, ProtocolVersion::none}) {
    for (const task::EventBody& body : silent) CHECK_FALSE(webhook_hears(version, body));
  }
}

}  // namespace task_test
