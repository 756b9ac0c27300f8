// Tables and MemoryStore: what operators see. Lists are made by looking at every task.
#include <algorithm>
#include <ranges>

#include "store/memory/memory_store.h"
#include "store/memory/tables.h"
#include "store/task_filter.h"

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace memory {

TaskLine Tables::line(const MemoryTask& task) const {
  TaskLine line{task.head, task.created, task.schedule, {}, 0};
  if (task.head.status_event)
    line.text = line_text(task.log[static_cast<std::size_t>(task.head.status_event.value - 1)]->body);
  for (const DeliveryTable::Row& row : deliveries_.rows()) {
    if (row.task == task.head.key && row.state != "delivered") ++line.undelivered;
  }
  line.retried_as = operators_.retried_as(task.head.key);
  return line;
}

std::optional<TaskLine> Tables::line_if_passing(const TaskFilter& filter, const MemoryTask& task) const {
  if (!passes(filter, task.head)) return std::nullopt;
  if (!filter.schedule.empty() && filter.schedule != task.schedule) return std::nullopt;
  TaskLine found = line(task);
  if (filter.undelivered && found.undelivered == 0) return std::nullopt;
  if (filter.retried && *filter.retried != static_cast<bool>(found.retried_as)) return std::nullopt;
  if (!has_words(found.text, filter.error)) return std::nullopt;
  return found;
}

TaskPage Tables::page(const TaskQuery& query) const {
  std::vector<TaskPlace> places;
  for (const auto& [key, task] : tasks_) {
    const TaskPlace place = place_of(task.head);
    if (!query.after || comes_first(*query.after, place, query.oldest_first)) places.push_back(place);
  }
  std::ranges::sort(
      places, [&](const TaskPlace& a, const TaskPlace& b) { return comes_first(a, b, query.oldest_first); });
  TaskPage page;
  for (const TaskPlace& place : places) {
    auto line = line_if_passing(query.filter, tasks_.at(place.key));
    if (!line) continue;
    if (std::ssize(page.lines) == query.limit) {
      if (!page.lines.empty()) page.next = place_of(page.lines.back().head);
      break;
    }
    page.lines.push_back(std::move(*line));
  }
  return page;
}

TaskCount Tables::count(const TaskFilter& filter) const {
  if (!is_counted(filter)) return {};
  const auto counted =
      std::ranges::count_if(tasks_, [&](const auto& each) { return passes(filter, each.second.head); });
  return {counted, true};
}

std::vector<OperatorStore::AgentCounts> Tables::counts_by_agent() const {
  std::map<task::AgentName, OperatorStore::AgentCounts> agents;
  std::map<std::pair<task::AgentName, task::State>, std::int64_t> at_rest;
  for (const auto& [key, task] : tasks_) {
    const task::TaskHead& head = task.head;
    if (!is_listed(head)) continue;
    OperatorStore::AgentCounts& counts = agents[head.agent];
    counts.agent = head.agent;
    if (head.turn_state == task::TurnState::none) ++at_rest[{head.agent, head.state}];
    if (head.turn_state == task::TurnState::queued) ++counts.queued;
    if (head.turn_state == task::TurnState::running) ++counts.running;
    if (head.turn_state == task::TurnState::waiting) ++counts.waiting;
  }
  for (const auto& [which, tasks] : at_rest) agents[which.first].at_rest.emplace_back(which.second, tasks);
  std::vector<OperatorStore::AgentCounts> all;
  for (auto& [name, counts] : agents) all.push_back(std::move(counts));
  return all;
}

DeliveryLine Tables::line_of(const DeliveryTable::Row& row) const {
  const task::TaskHead& head = tasks_.at(row.task).head;
  return {row.key, row.task,  head.agent,   head.caller, head.id, row.event,
          row.url, row.state, row.attempts, row.created, row.due, row.error};
}

DeliveryPage Tables::deliveries(const DeliveryFilter& filter, std::int64_t before, int limit) const {
  using State = DeliveryFilter::State;
  DeliveryPage page;
  for (const DeliveryTable::Row& row : std::views::reverse(deliveries_.rows())) {
    const DeliveryLine line = line_of(row);
    const bool fits_state = filter.state == State::waiting    ? row.state == "waiting"
                            : filter.state == State::given_up ? row.state == "given-up"
                                                              : filter.task || row.state != "delivered";
    const bool passes = fits_state && (before <= 0 || row.key.value < before) &&
                        (!filter.task || row.task == filter.task) &&
                        (filter.agent.empty() || line.agent == filter.agent) &&
                        (filter.caller.empty() || is_of(line.caller, filter.caller));
    if (!passes) continue;
    if (std::ssize(page.lines) == limit) {
      page.next = page.lines.empty() ? 0 : page.lines.back().key.value;
      break;
    }
    page.lines.push_back(line);
  }
  return page;
}

std::optional<DeliveryLine> Tables::delivery(DeliveryKey key) const {
  for (const DeliveryTable::Row& row : deliveries_.rows()) {
    if (row.key == key) return line_of(row);
  }
  return std::nullopt;
}

}  // namespace memory

Result<TaskPage> MemoryStore::page(const TaskQuery& query) const {
  return state_.with([&](const State& state) { return state.tables.page(query); });
}

Result<TaskCount> MemoryStore::count(const TaskFilter& filter) const {
  return state_.with([&](const State& state) { return state.tables.count(filter); });
}

Result<std::vector<OperatorStore::AgentCounts>> MemoryStore::counts_by_agent() const {
  return state_.with([](const State& state) { return state.tables.counts_by_agent(); });
}

Result<TaskLine> MemoryStore::line(task::TaskKey key) const {
  return state_.with([&](const State& state) -> Result<TaskLine> {
    const memory::MemoryTask* task = state.tables.task(key);
    if (task == nullptr) return fail(ErrorCode::task_not_found, "task not found");
    return state.tables.line(*task);
  });
}

Result<DeliveryPage> MemoryStore::deliveries(const DeliveryFilter& filter, std::int64_t before,
                                             int limit) const {
  return state_.with([&](const State& state) { return state.tables.deliveries(filter, before, limit); });
}

Result<DeliveryLine> MemoryStore::delivery(DeliveryKey key) const {
  return state_.with([&](const State& state) -> Result<DeliveryLine> {
    auto line = state.tables.delivery(key);
    if (!line) return fail(ErrorCode::not_found, "there is no such delivery");
    return std::move(*line);
  });
}

Result<AuditPage> MemoryStore::audit(const AuditFilter& filter, std::int64_t before, int limit) const {
  return state_.with(
      [&](const State& state) { return state.tables.operators().audit(filter, before, limit); });
}

Result<std::vector<CrashedTurn>> MemoryStore::crashed_turns() const {
  return state_.with([](const State& state) { return state.tables.crashed_turns(); });
}

Result<std::vector<AgentControl>> MemoryStore::agent_controls() const {
  return state_.with([](const State& state) { return state.tables.operators().controls(); });
}

Result<std::vector<BulkJob>> MemoryStore::bulk_jobs(int limit) const {
  return state_.with([&](const State& state) { return state.tables.operators().jobs(limit); });
}

Result<BulkJob> MemoryStore::bulk_job(task::BulkJobKey key) const {
  return state_.with([&](const State& state) -> Result<BulkJob> {
    const BulkJob* job = state.tables.operators().job(key);
    if (job == nullptr) return fail(ErrorCode::not_found, "there is no such job");
    return *job;
  });
}

Result<std::vector<BulkItem>> MemoryStore::bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                      bool open) const {
  return state_.with(
      [&](const State& state) { return state.tables.operators().items(job, after, limit, open); });
}

Result<void> MemoryStore::write(const OperatorWrite& write) {
  const auto checked =
      state_.with([&](const State& state) { return state.tables.operators().check(write, group_.jobs); });
  if (!checked) return checked;
  if (const auto* job = std::get_if<BulkJob>(&write)) group_.jobs.push_back(job->key);
  group_.entries.emplace_back(memory::OperatorEntry{write, now()});
  return {};
}

}  // namespace baton::store
