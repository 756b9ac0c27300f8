#include "task/event.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

TEST_CASE("weight_of: ids and names that senders choose count like content") {
  const std::string big(1'000, 'x');
  std::vector<EventBody> heavy;
  const auto add_part = [&](std::string task::Part::*text) {
    task::Part part;
    part.*text = big;
    task::Message message;
    message.parts = {part};
    heavy.emplace_back(task::MessageAdded{message});
    task::Artifact artifact;
    artifact.parts = {part};
    heavy.emplace_back(task::ArtifactChunk{artifact});
  };
  add_part(&task::Part::filename);
  add_part(&task::Part::media_type);

  task::Message named, extended, referring;
  named.id.value = big;
  extended.extensions = {big};
  referring.reference_tasks.emplace_back().value = big;
  for (const task::Message& message : {named, extended, referring})
    heavy.emplace_back(task::MessageAdded{message});

  task::Artifact known, titled, described, marked;
  known.id.value = titled.name = described.description = big;
  marked.extensions = {big};
  for (const task::Artifact& artifact : {known, titled, described, marked})
    heavy.emplace_back(task::ArtifactChunk{artifact});

  task::StatusChanged asked;
  asked.status.asked_by.emplace_back().ask = big;
  heavy.emplace_back(asked);
  task::TextDelta text;
  text.reply.value = big;
  heavy.emplace_back(text);
  task::ReasoningDelta reasoning;
  reasoning.span.value = big;
  heavy.emplace_back(reasoning);
  task::Withdrawn withdrawn;
  withdrawn.artifacts.emplace_back().value = big;
  heavy.emplace_back(withdrawn);
  task::ExecutorState state;
  state.taken = {big};
  heavy.emplace_back(state);
  heavy.emplace_back(task::ToolCall{big, "n", {}});
  heavy.emplace_back(task::ToolCall{"c", big, {}});
  heavy.emplace_back(task::ToolResult{big, {}, {}});
  heavy.emplace_back(task::Custom{big, {}});
  heavy.emplace_back(task::Activity{big, "PLAN", {}, {}});
  heavy.emplace_back(task::Activity{"a", big, {}, {}});
  heavy.emplace_back(task::Subagent{big, "n"});
  for (const EventBody& body : heavy) {
    CAPTURE(body.index());
    CHECK(weight_of(body) >= sizeof(EventBody) + big.size());
    CHECK(weight_of(body) < sizeof(EventBody) + 2 * big.size());
  }
}

}  // namespace event_test
