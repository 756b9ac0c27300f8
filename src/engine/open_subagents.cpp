#include "engine/open_subagents.h"

#include <algorithm>
#include <utility>

namespace baton::engine {
namespace {

using Phase = task::Subagent::Phase;

auto same_as(const std::string& id) {
  return [&id](const task::Subagent& other) { return other.id == id; };
}

}  // namespace

bool OpenSubagents::is_open(const std::string& id) const {
  return std::any_of(open_.begin(), open_.end(), same_as(id));
}

bool OpenSubagents::follow(const task::Subagent& event) {
  if (is_open(event.id) == (event.phase == Phase::started)) return false;
  if (event.phase == Phase::started) {
    open_.push_back(event);
  } else {
    std::erase_if(open_, same_as(event.id));
  }
  return true;
}

void OpenSubagents::undo(const task::Subagent& event) {
  if (event.phase == Phase::started) {
    std::erase_if(open_, same_as(event.id));
  } else {
    open_.push_back({event.id, event.name, Phase::started, {}});
  }
}

std::vector<task::Subagent> OpenSubagents::close_all(const std::string& error) {
  for (task::Subagent& event : open_) {
    event.phase = Phase::failed;
    event.error = error;
  }
  return std::exchange(open_, {});
}

}  // namespace baton::engine
