#include "engine/decide/rules/unfinished_subagents.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace baton::engine {
namespace {

using Phase = task::Subagent::Phase;

auto same_as(const std::string& id) {
  return [&id](const task::Subagent& other) { return other.id == id; };
}

}  // namespace

std::string UnfinishedSubagents::open_id(task::TaskKey child) const {
  const auto open = std::find_if(open_.begin(), open_.end(),
                                 [child](const task::Subagent& one) { return one.task == child; });
  return open == open_.end() ? std::string() : open->id;
}

bool UnfinishedSubagents::follow(const task::Subagent& event) {
  const auto open = std::find_if(open_.begin(), open_.end(), same_as(event.id));
  const bool known = open != open_.end();
  if (event.phase == Phase::started) {
    if (!known) open_.push_back(event);
    return !known;
  }
  if (!known) return false;
  if (event.phase == Phase::passed) {
    open->after = event.after;
    return true;
  }
  if (event.phase == Phase::finished || event.phase == Phase::failed) {
    open_.erase(open);
    return true;
  }
  if ((open->phase == Phase::asks) == (event.phase == Phase::asks)) return false;
  if (event.phase == Phase::asks) {
    open->phase = Phase::asks;
  } else {
    *open = event;
  }
  return true;
}

void UnfinishedSubagents::undo(const task::Subagent& event) {
  const auto open = std::find_if(open_.begin(), open_.end(), same_as(event.id));
  if (open == open_.end()) {
    open_.push_back({event.id, event.name, Phase::started, {}});
  } else if (event.phase == Phase::started) {
    open_.erase(open);
  } else {
    open->phase = event.phase == Phase::asks ? Phase::answered : Phase::asks;
  }
}

std::vector<task::Subagent> UnfinishedSubagents::awaited() const {
  std::vector<task::Subagent> found;
  std::copy_if(open_.begin(), open_.end(), std::back_inserter(found),
               [](const task::Subagent& one) { return one.phase != Phase::asks; });
  return found;
}

std::vector<task::Subagent> UnfinishedSubagents::close_all(const std::string& error) {
  std::vector<task::Subagent> ends;
  for (const task::Subagent& event : std::exchange(open_, {})) {
    ends.push_back({event.id, event.name, Phase::failed, error});
    ends.back().is_detached = event.is_detached;
  }
  return ends;
}

}  // namespace baton::engine
