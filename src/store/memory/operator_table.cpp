#include "store/memory/operator_table.h"

#include <algorithm>
#include <ranges>

#include "store/task_filter.h"

namespace baton::store::memory {

using base::ErrorCode;
using base::fail;

base::Result<void> OperatorTable::check(const OperatorWrite& write, const JobStates& open) const {
  const auto state_of = [&](task::BulkJobKey key) -> std::optional<BulkJob::State> {
    if (const auto found = open.find(key); found != open.end()) return found->second;
    const BulkJob* const stored = job(key);
    return stored == nullptr ? std::nullopt : std::optional(stored->state);
  };
  if (const auto* made = std::get_if<BulkJob>(&write); made != nullptr && state_of(made->key))
    return fail(ErrorCode::already_exists, "the job already exists");
  const auto* const next = std::get_if<BulkState>(&write);
  if (next == nullptr) return {};
  const auto now = state_of(next->job);
  if (!now) return fail(ErrorCode::not_found, "job not found");
  const bool may_follow = next->state == BulkJob::State::done ? *now != BulkJob::State::abandoned
                                                              : *now == BulkJob::State::preparing;
  if (!may_follow) return fail(ErrorCode::conflict, "the job is not being prepared any more");
  return {};
}

void OperatorTable::apply(const OperatorWrite& write, base::Timestamp at) {
  std::visit([&](const auto& one) { put(one, at); }, write);
}

void OperatorTable::put(const task::AuditEntry& entry, base::Timestamp at) {
  audit_.push_back({std::ssize(audit_) + 1, at, entry});
  audit_.back().entry.job = {};
  const auto item = entry.job ? items_.find({entry.job, entry.task}) : items_.end();
  if (item == items_.end() || !item->second.outcome.empty()) return;
  item->second.outcome = entry.outcome;
  item->second.detail = entry.detail;
  BulkJob& job = jobs_.at(entry.job);
  ++(entry.outcome == task::kDone ? job.done : job.refused);
}

void OperatorTable::put(const AgentControl& control, base::Timestamp at) {
  AgentControl& stored = controls_[control.agent];
  const int workers = stored.workers, concurrency = stored.concurrency;
  stored = control;
  stored.at = at;
  stored.workers = workers;
  stored.concurrency = concurrency;
}

void OperatorTable::put(const AgentScale& scale, base::Timestamp at) {
  const AgentControl fresh{scale.agent, false, scale.actor, scale.reason, at};
  AgentControl& stored = controls_.try_emplace(scale.agent, fresh).first->second;
  stored.workers = scale.workers.value_or(stored.workers);
  stored.concurrency = scale.concurrency.value_or(stored.concurrency);
}

void OperatorTable::put(const BulkJob& job, base::Timestamp at) {
  BulkJob& stored = jobs_[job.key] = job;
  stored.at = at;
}

void OperatorTable::put(const BulkItems& items, base::Timestamp) {
  for (const task::TaskKey task : items.tasks) items_.try_emplace({items.job, task}, BulkItem{task, {}, {}});
}

void OperatorTable::put(const BulkState& state, base::Timestamp) {
  const auto job = jobs_.find(state.job);
  if (job != jobs_.end()) job->second.state = state.state;
}

void OperatorTable::put(const CrashCounts& counts, base::Timestamp) {
  for (const CrashedTurn& turn : counts.turns) {
    if (turn.deaths == 0) {
      crashed_.erase(turn.task);
    } else {
      crashed_[turn.task] = turn;
    }
  }
}

void OperatorTable::note_crashed(const std::vector<CrashedTurn>& running) {
  if (has_stopped_) return;
  int suspects = 0;
  for (const CrashedTurn& turn : running) {
    CrashedTurn& noted = crashed_.try_emplace(turn.task, turn).first->second;
    if (noted.turn != turn.turn) noted = turn;
    suspects += noted.deaths >= kSuspectDeaths ? 1 : 0;
  }
  for (const CrashedTurn& turn : running) {
    CrashedTurn& noted = crashed_.at(turn.task);
    const bool is_alone = noted.deaths >= kSuspectDeaths && suspects == 1;
    noted.seen = is_alone ? CrashedTurn::Seen::death_alone : CrashedTurn::Seen::death;
  }
}

void OperatorTable::put(const BulkCount& count, base::Timestamp) {
  const auto job = jobs_.find(count.job);
  if (job == jobs_.end()) return;
  job->second.tasks = count.tasks;
  job->second.counted = count.counted;
}

task::TaskKey OperatorTable::retried_as(task::TaskKey task) const {
  for (const AuditLine& line : std::views::reverse(audit_)) {
    if (line.entry.task == task && is_done_retry(line.entry)) return made_by_retry(line.entry.detail);
  }
  return {};
}

AuditPage OperatorTable::audit(const AuditFilter& filter, std::int64_t before, int limit) const {
  AuditPage page;
  for (const AuditLine& line : std::views::reverse(audit_)) {
    const bool passes = (before <= 0 || line.key < before) &&
                        (filter.actor.empty() || line.entry.actor == filter.actor) &&
                        (filter.action.empty() || line.entry.action == filter.action) &&
                        (!filter.task || line.entry.task == filter.task);
    if (!passes) continue;
    if (std::ssize(page.lines) == limit) {
      page.next = page.lines.empty() ? 0 : page.lines.back().key;
      break;
    }
    page.lines.push_back(line);
  }
  return page;
}

std::vector<AgentControl> OperatorTable::controls() const {
  std::vector<AgentControl> all;
  for (const auto& [agent, control] : controls_) all.push_back(control);
  return all;
}

std::vector<BulkJob> OperatorTable::jobs(int limit) const {
  std::vector<BulkJob> all;
  for (const auto& [key, job] : std::views::reverse(jobs_)) {
    if (std::ssize(all) < limit) all.push_back(job);
  }
  return all;
}

const BulkJob* OperatorTable::job(task::BulkJobKey key) const {
  const auto found = jobs_.find(key);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<BulkItem> OperatorTable::items(task::BulkJobKey job, task::TaskKey after, int limit,
                                           bool open) const {
  std::vector<BulkItem> some;
  for (auto item = items_.upper_bound({job, after}); item != items_.end() && item->first.first == job;
       ++item) {
    if (std::ssize(some) == limit) break;
    if (!open || item->second.outcome.empty()) some.push_back(item->second);
  }
  return some;
}

}  // namespace baton::store::memory
