#include "app/task_log.h"

#include <algorithm>
#include <string>
#include <variant>

#include "base/log.h"
#include "base/loggable.h"

namespace baton::app {
namespace {

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return base::loggable(text);
}

// Describes an event; empty for an event that is not logged.
struct Words {
  std::string operator()(const task::StatusChanged& changed) const {
    std::string words(task::name_of(changed.status.state));
    const auto own = task::own_message(changed.status);
    if (own) words += ": " + on_one_line(task::text_of(*own));
    return words;
  }
  std::string operator()(const task::MessageAdded& added) const {
    return added.message.role == task::Role::user ? "< " + on_one_line(task::text_of(added.message)) : "";
  }
  std::string operator()(const task::TextDelta& piece) const {
    return piece.text.empty() ? "" : "> " + on_one_line(piece.text);
  }
  std::string operator()(const task::ReasoningDelta& piece) const {
    return piece.text.empty() ? "" : "thinks: " + on_one_line(piece.text);
  }
  std::string operator()(const task::ArtifactChunk& chunk) const {
    if (chunk.append) return {};
    const std::string& name = chunk.artifact.name.empty() ? chunk.artifact.id.value : chunk.artifact.name;
    return "artifact " + base::loggable_word(name);
  }
  std::string operator()(const task::ToolCall& call) const {
    return "calls the tool " + base::loggable_word(call.name) + " " + on_one_line(call.arguments.text);
  }
  std::string operator()(const task::ToolResult& result) const {
    return "the tool returns " + on_one_line(result.error.empty() ? result.content.text : result.error);
  }
  std::string operator()(const task::Step& step) const {
    return step.phase == task::Step::Phase::start ? "step " + on_one_line(step.name) : "";
  }
  std::string operator()(const task::Subagent& child) const {
    using Phase = task::Subagent::Phase;
    const std::string name = base::loggable_word(child.name);
    if (child.phase == Phase::started) return "delegates to " + name;
    if (child.phase == Phase::finished) return name + " is done";
    if (child.phase == Phase::failed) return name + " has failed: " + on_one_line(child.error);
    return child.phase == Phase::asks ? name + " asks" : "";
  }
  std::string operator()(const task::Usage& usage) const { return "usage " + on_one_line(usage.used.text); }
  std::string operator()(const task::Withdrawn&) const { return "begins again"; }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

}  // namespace

void log_task(const store::Committed& committed) {
  for (const task::EventPtr& event : committed.events) {
    const std::string words = std::visit(Words{}, event->body);
    if (words.empty()) continue;
    base::log_info({{"agent", committed.head.agent.value}, {"task", committed.head.id.value}}, "{}", words);
  }
}

}  // namespace baton::app
