#include "protocol/agui/open_work.h"

#include <algorithm>
#include <ranges>

namespace baton::protocol::agui {
namespace {

void finish_step(const std::string& name, Out& out) {
  out.event("STEP_FINISHED", "stepName", name);
}

void fail_subagent(const std::string& id, const std::string& why, Out& out) {
  out.event("SUBAGENT_ERROR", [&](json::Writer& w) { w.member("subagentRunId", id).member("message", why); });
}

void finish_subagent(const std::string& id, bool suspended, Out& out) {
  out.event("SUBAGENT_FINISHED", [&](json::Writer& w) {
    w.member("subagentRunId", id);
    if (suspended) w.key("outcome").object([&] { w.member("type", "suspended"); });
  });
}

}  // namespace

void OpenSteps::show(const task::Step& step, Out& out) {
  const auto open = std::ranges::find_if(open_, [&](const Open& o) { return o.name == step.name; });
  if (step.phase == task::Step::Phase::start) {
    if (open != open_.end()) {
      ++open->depth;
      return;
    }
    open_.push_back({step.name});
    out.event("STEP_STARTED", "stepName", step.name);
    return;
  }
  // A step that began in an earlier run was closed with that run.
  if (open == open_.end() || --open->depth > 0) return;
  open_.erase(open);
  finish_step(step.name, out);
}

void OpenSteps::close_all(Out& out) {
  for (const Open& open : std::views::reverse(open_)) finish_step(open.name, out);
  open_.clear();
}

std::string OpenSubagents::start(const task::Subagent& subagent, Out& out) {
  std::string id = names_.fresh(subagent.id);
  out.event("SUBAGENT_STARTED",
            [&](json::Writer& w) { w.member("subagentRunId", id).member("name", subagent.name); });
  return id;
}

void OpenSubagents::show(const task::Subagent& subagent, Out& out) {
  using Phase = task::Subagent::Phase;
  if (!newer_ || subagent.phase == Phase::asks || subagent.phase == Phase::answered) return;
  const auto open = std::ranges::find_if(open_, [&](const Open& o) { return o.task == subagent.id; });
  if (subagent.phase == Phase::started) {
    if (open == open_.end()) open_.push_back({subagent.id, start(subagent, out)});
    return;
  }
  // A subagent that began in an earlier run is started again in this one, so that its end can be shown.
  const std::string id = open == open_.end() ? start(subagent, out) : open->id;
  if (open != open_.end()) open_.erase(open);
  if (subagent.phase == Phase::finished) return finish_subagent(id, false, out);
  fail_subagent(id, subagent.error.empty() ? "it failed" : subagent.error, out);
}

void OpenSubagents::close_all(Ending ending, Out& out) {
  for (const Open& open : std::views::reverse(open_)) {
    if (ending == Ending::broken_off) {
      fail_subagent(open.id, "it was broken off", out);
    } else {
      finish_subagent(open.id, ending == Ending::suspended, out);
    }
  }
  open_.clear();
}

}  // namespace baton::protocol::agui
