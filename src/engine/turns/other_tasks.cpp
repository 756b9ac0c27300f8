#include "engine/turns/other_tasks.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/text.h"
#include "engine/turns/turn_log.h"

namespace baton::engine {
namespace {

// The bytes that a parent gets of the reason why a child failed. The parent's log keeps the reason twice, and
// a parent may have thousands of children that fail.
constexpr std::size_t kFailureMax = 8 << 10;

// Takes `bytes` from `room` if they fit.
bool fits(std::size_t bytes, std::size_t& room) {
  if (bytes > room) return false;
  room -= bytes;
  return true;
}

// Artifacts come before history: they are the result of a task.
void cut_to(task::Task& task, std::size_t& room) {
  const auto too_many =
      std::find_if_not(task.artifacts.begin(), task.artifacts.end(),
                       [&](const task::Artifact& artifact) { return fits(task::weight_of(artifact), room); });
  task.artifacts.erase(too_many, task.artifacts.end());
  const auto too_old =
      std::find_if_not(task.history.rbegin(), task.history.rend(),
                       [&](const task::Message& message) { return fits(task::weight_of(message), room); });
  task.history.erase(task.history.begin(), too_old.base());
}

// Returns the child as it is or, if it works again, as it was when it stopped for this turn. Returns nullopt
// if it has not stopped.
base::Result<std::optional<task::Task>> stopped_child(const TaskReader& reader, const task::Subagent& child,
                                                      const task::Depth& depth) {
  auto now = reader.read_committed(child.task, depth);
  if (!now) return base::fail(std::move(now.error()));
  // True if the child's present state is a result for the turn.
  const bool counts = task::is_terminal(now->status.state) || child.is_detached ||
                      (child.asks_agent && task::is_waiting(now->status.state));
  if (counts) return std::move(*now);
  if (!child.asks_agent) return std::nullopt;
  // The child asked, and someone other than this turn has answered.
  const auto stop = reader.stop_after(child.task, child.after);
  if (!stop) return base::fail(stop.error());
  if (!*stop) return std::nullopt;
  auto then = reader.read_committed(child.task, depth, (*stop)->number);
  if (!then) return base::fail(std::move(then.error()));
  return std::move(*then);
}

}  // namespace

base::Result<std::vector<task::Task>> referenced_tasks(const TaskReader& reader, const task::TaskHead& head,
                                                       const task::Message& message,
                                                       const ReferenceBounds& bounds) {
  std::vector<task::Task> found;
  std::unordered_set<task::TaskId> named{head.id};
  std::size_t room = bounds.bytes;
  for (const task::TaskId& id : message.reference_tasks) {
    if (std::ssize(named) > bounds.tasks) break;
    if (!named.insert(id).second) continue;
    const auto other = reader.head({head.caller, head.agent, id});
    if (!other && other.error().code == base::ErrorCode::task_not_found) continue;
    if (!other) return base::fail(other.error());
    auto task = reader.read(other->key, task::Depth{bounds.history, true});
    if (!task) return base::fail(std::move(task.error()));
    cut_to(*task, room);
    found.push_back(std::move(*task));
  }
  return found;
}

std::string failure_of(const task::Status& status) {
  if (!task::is_terminal(status.state) || status.state == task::State::completed) return {};
  const std::string text = status.message ? task::text_of(*status.message) : std::string();
  if (text.empty()) return std::string(task::name_of(status.state));
  if (text.size() <= kFailureMax) return text;
  return std::string(base::beginning_of(text, kFailureMax)) + "…";
}

agents::DelegateResult result_of(const std::string& call, task::Task child) {
  agents::DelegateResult result{call, std::nullopt, failure_of(child.status)};
  result.task = std::move(child);
  return result;
}

base::Result<std::vector<agents::DelegateResult>> child_results(const TaskReader& reader,
                                                                const std::vector<task::Subagent>& delegated,
                                                                const task::Depth& depth) {
  std::vector<agents::DelegateResult> all;
  std::size_t room = depth.bytes_max;
  for (const task::Subagent& one : last_of_each_call(delegated)) {
    if (!one.task) {
      all.push_back({one.call, std::nullopt, one.error});
      continue;
    }
    auto child = stopped_child(reader, one, depth);
    if (!child && child.error().code != base::ErrorCode::too_large) {
      return base::fail(std::move(child.error()));
    }
    if (!child) {
      all.push_back({one.call, std::nullopt, "the child's result is too large"});
    } else if (*child && !fits(task::weight_of(**child), room)) {
      all.push_back(
          {one.call, std::nullopt, "the child's result is too large together with the earlier ones"});
    } else if (*child) {
      all.push_back(result_of(one.call, std::move(**child)));
      all.back().tokens = one.tokens;
      all.back().children = one.children;
    }
  }
  return all;
}

}  // namespace baton::engine
