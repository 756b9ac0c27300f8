#include "task/event.h"

#include <doctest/doctest.h>

namespace event_test {

using namespace baton;
using task::EventBody;
using task::weight_of;

TEST_CASE("weight_of: the content of every kind of event counts") {
  const std::string big(1'000, 'x');
  task::Message message;
  message.parts = {task::Part::of_text(big)};
  const EventBody heavy[] = {task::StatusChanged{{task::State::working, message, {}}, {}},
                             task::StatusChanged{{task::State::input_required, {}, {}}, {}, big},
                             task::MessageAdded{message},
                             task::TextDelta{{"r"}, 0, big},
                             task::ArtifactChunk{{{"a"}, 0, "n", {}, message.parts, {}, {}}},
                             task::ToolCall{"c", "n", {big}},
                             task::ToolResult{"c", {}, big},
                             task::StateSnapshot{{big}},
                             task::StateDelta{{big}},
                             task::Step{big},
                             task::Custom{"n", {big}},
                             task::ReasoningDelta{{"s"}, big},
                             task::Activity{"a", "PLAN", {big}, {}},
                             task::Activity{"a", "PLAN", {}, {big}},
                             task::Subagent{"t", "n", task::Subagent::Phase::failed, big},
                             task::Usage{{big}}};
  for (const EventBody& body : heavy) {
    CAPTURE(body.index());
    CHECK(weight_of(body) >= sizeof(EventBody) + big.size());
    CHECK(weight_of(body) < sizeof(EventBody) + 2 * big.size());
  }
}

}  // namespace event_test
