#include "store/sql/write_state.h"

#include "store/log_reads.h"
#include "store/sql/failure.h"
#include "store/sql/log_rows.h"

namespace baton::store::sql {
void WriteState::start() {
  if (node()) return;  // may_resend is not used in a shared database
  Query resent = connection_.query(
      "SELECT d.config_key FROM deliveries d WHERE d.due_ms IS NOT NULL AND (SELECT l.state FROM deliveries "
      "l "
      "WHERE l.config_key = d.config_key ORDER BY l.event_number DESC LIMIT 1) <> 'waiting'");
  while (resent.step()) resent_.insert({resent.integer(0)});
}

const task::ArtifactPlaces& WriteState::artifacts(TaskRow& task, const task::Change& change) {
  task::for_each_artifact_named(change, [&](const task::ArtifactId& id) { find_artifact(task, id); });
  return task.artifacts;
}

void WriteState::find_artifact(TaskRow& task, const task::ArtifactId& id) {
  if (task.artifacts.size() == static_cast<std::size_t>(task.head.artifact_count)) return;  // all of them
  if (task.artifacts.contains(id)) return;
  if (!task.indexed) {
    const auto log = read_log(connection_, task.head.key);
    if (!log) throw damaged_row(log.error().for_log);
    task.artifacts = places_of(*log);
  } else if (const auto place = sql::find_artifact(connection_, task.head.key, id)) {
    task.artifacts.emplace(id, *place);
  }
}

std::vector<TaskRow::Config>& WriteState::configs(TaskRow& task) {
  if (task.configs) return *task.configs;
  task.configs.emplace();
  Query query = connection_.query(
      "SELECT config_key, public_id, version FROM push_configs WHERE task_key = ? ORDER BY config_key",
      task.head.key);
  while (query.step()) {
    task.configs->push_back(
        {{query.integer(0)}, {query.text(1)}, static_cast<task::ProtocolVersion>(query.small(2))});
  }
  return *task.configs;
}

// A delivery that was not due when it was read may have become due since, so it is read again.
std::optional<WriterDialect::DeliveryRow> WriteState::delivery(DeliveryKey key) {
  if (!expected_.empty()) deliveries_.merge(dialect_.deliveries(std::exchange(expected_, {})));
  if (const auto read = deliveries_.extract(key); read && (!read.mapped() || read.mapped()->is_due))
    return read.mapped();
  Query query = connection_.query(
      "SELECT config_key, event_number, due_ms IS NOT NULL FROM deliveries WHERE delivery_key = ?", key);
  if (!query.step()) return std::nullopt;
  return WriterDialect::DeliveryRow{{query.integer(0)}, {query.integer(1)}, query.truth(2)};
}

void WriteState::count(const task::TaskHead& head, std::int64_t tasks) {
  if (head.turn_state != task::TurnState::none || head.hidden) return;
  const auto found = totals_.find(std::tie(head.agent, head.caller, head.state));
  if (found != totals_.end()) {
    found->second += tasks;
  } else {
    totals_.emplace(std::tuple(head.agent, head.caller, head.state), tasks);
  }
}

void WriteState::finish() {
  if (!waiting_.empty()) dialect_.wake_deliveries(waiting_);
  waiting_.clear();
  change_deliveries();
  for (const auto& [whose, more] : totals_) {
    const auto& [agent, caller, state] = whose;
    if (more != 0) dialect_.add_to_total(agent, caller, state, more);
  }
  totals_.clear();
}

}  // namespace baton::store::sql
