#include "store/sql/operator_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "store/sql/api_key_rows.h"
#include "store/sql/crashed_turns.h"
#include "store/sql/failure.h"

namespace baton::store::sql {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::array<std::string_view, 4> kJobStates{"preparing", "running", "done", "abandoned"};

std::string name_of(BulkJob::State state) {
  return std::string(kJobStates[static_cast<std::size_t>(state)]);
}

BulkJob::State job_state_named(std::string_view name) {
  const auto found = std::ranges::find(kJobStates, name);
  if (found == kJobStates.end()) throw damaged_row("unknown state of a job");
  return static_cast<BulkJob::State>(found - kJobStates.begin());
}

#define BATON_JOBS                                                                                         \
  "SELECT job_key, at_ms, actor, action, reason, filter, tasks, state, done, refused, counted, node FROM " \
  "bulk_jobs "
BulkJob job_of(const Query& query) {
  BulkJob job;
  job.key = {query.integer(0)};
  job.at = base::from_ms(query.integer(1));
  job.actor = query.text(2);
  job.action = query.text(3);
  job.reason = query.text(4);
  job.filter = query.text(5);
  job.tasks = query.integer(6);
  job.state = job_state_named(query.text(7));
  job.done = query.integer(8);
  job.refused = query.integer(9);
  job.counted = query.truth(10);
  job.node = {query.integer(11)};
  return job;
}

// Notes the outcome of a job's item. Only the first outcome counts.
void note_item(Connection& connection, const task::AuditEntry& entry) {
  const std::int64_t noted = connection.run_counted(
      "UPDATE bulk_items SET outcome = ?3, detail = ?4 WHERE job_key = ?1 AND task_key = ?2 AND outcome = ''",
      entry.job, entry.task, entry.outcome, entry.detail);
  if (noted == 0) return;
  connection.run(entry.outcome == task::kDone
                     ? "UPDATE bulk_jobs SET done = done + 1 WHERE job_key = ?"
                     : "UPDATE bulk_jobs SET refused = refused + 1 WHERE job_key = ?",
                 entry.job);
}

// Writes each kind of OperatorWrite.
class Writing {
 public:
  Writing(Connection& connection, base::Timestamp at) : connection_(connection), at_(at) {}

  base::Result<void> operator()(const task::AuditEntry& entry) const {
    insert_audit(connection_, entry, at_);
    return {};
  }

  base::Result<void> operator()(const AgentControl& control) const {
    connection_.run(
        "INSERT INTO agent_controls (agent, paused, actor, reason, at_ms) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (agent) DO UPDATE SET paused = excluded.paused, actor = excluded.actor, "
        "reason = excluded.reason, at_ms = excluded.at_ms",
        control.agent, control.paused, control.actor, control.reason, base::to_ms(at_));
    return {};
  }

  base::Result<void> operator()(const AgentScale& scale) const {
    connection_.run(
        "INSERT INTO agent_controls (agent, paused, actor, reason, at_ms) VALUES (?, 0, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        scale.agent, scale.actor, scale.reason, base::to_ms(at_));
    connection_.run(
        "UPDATE agent_controls SET workers = CASE WHEN ?2 < 0 THEN workers ELSE ?2 END, "
        "concurrency = CASE WHEN ?3 < 0 THEN concurrency ELSE ?3 END WHERE agent = ?1",
        scale.agent, scale.workers.value_or(-1), scale.concurrency.value_or(-1));
    return {};
  }

  base::Result<void> operator()(const BulkJob& job) const {
    if (connection_.query("SELECT 1 FROM bulk_jobs WHERE job_key = ?", job.key).step())
      return fail(ErrorCode::already_exists, "the job already exists");
    connection_.run(
        "INSERT INTO bulk_jobs (job_key, at_ms, actor, action, reason, filter, tasks, state, done, refused, "
        "node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)",
        job.key, base::to_ms(at_), job.actor, job.action, job.reason, job.filter, job.tasks,
        name_of(job.state), job.node);
    return {};
  }

  base::Result<void> operator()(const BulkItems& items) const {
    for (const task::TaskKey task : items.tasks) {
      connection_.run(
          "INSERT INTO bulk_items (job_key, task_key, outcome, detail) VALUES (?, ?, '', '') "
          "ON CONFLICT DO NOTHING",
          items.job, task);
    }
    return {};
  }

  base::Result<void> operator()(const BulkState& state) const {
    const std::int64_t changed = connection_.run_counted(
        state.state == BulkJob::State::done
            ? "UPDATE bulk_jobs SET state = ?2 WHERE job_key = ?1 AND state <> 'abandoned'"
            : "UPDATE bulk_jobs SET state = ?2 WHERE job_key = ?1 AND state = 'preparing'",
        state.job, name_of(state.state));
    if (changed > 0) return {};
    if (!connection_.query("SELECT 1 FROM bulk_jobs WHERE job_key = ?", state.job).step())
      return fail(ErrorCode::not_found, "job not found");
    return fail(ErrorCode::conflict, "the job is not being prepared any more");
  }

  base::Result<void> operator()(const BulkCount& count) const {
    connection_.run("UPDATE bulk_jobs SET tasks = ?2, counted = ?3 WHERE job_key = ?1", count.job,
                    count.tasks, count.counted);
    return {};
  }

  base::Result<void> operator()(const ProgramBegins& begins) const {
    forget_ended_turns(connection_);
    if (!begins.is_shared) note_crashed_turns(connection_);
    return {};
  }

  base::Result<void> operator()(const ProgramStops& what) const {
    connection_.run("UPDATE server SET stopped = ?", what.stops);
    return {};
  }

  base::Result<void> operator()(const CrashCounts& counts) const {
    for (const CrashedTurn& turn : counts.turns) put_crashed_turn(connection_, turn);
    return {};
  }

  template <class KeyWrite>
  base::Result<void> operator()(const KeyWrite& write) const {
    return write_api_keys(connection_, write, at_);
  }

 private:
  Connection& connection_;
  const base::Timestamp at_;
};

}  // namespace

void insert_audit(Connection& connection, const task::AuditEntry& entry, base::Timestamp at) {
  connection.run(
      "INSERT INTO audit (at_ms, actor, action, reason, detail, task_key, agent, caller, public_id, outcome) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      base::to_ms(at), entry.actor, entry.action, entry.reason, entry.detail, entry.task, entry.agent,
      entry.caller, entry.id, entry.outcome);
  if (entry.job) note_item(connection, entry);
}

base::Result<void> write_for_operator(Connection& connection, const OperatorWrite& write,
                                      base::Timestamp at) {
  return std::visit(Writing(connection, at), write);
}

AuditPage read_audit(Connection& connection, const AuditFilter& filter, std::int64_t before, int limit) {
#define BATON_AUDIT                                                                                      \
  "SELECT audit_key, at_ms, actor, action, reason, detail, task_key, agent, caller, public_id, outcome " \
  "FROM audit WHERE audit_key < ?1 AND (?2 = '' OR actor = ?2) AND (?3 = '' OR action = ?3) "
  const std::int64_t below = before > 0 ? before : std::numeric_limits<std::int64_t>::max();
  Query query = filter.task
                    ? connection.query(BATON_AUDIT
                                       "AND task_key = ?5 AND task_key <> 0 ORDER BY audit_key DESC LIMIT ?4",
                                       below, filter.actor, filter.action, limit + 1, filter.task)
                    : connection.query(BATON_AUDIT "ORDER BY audit_key DESC LIMIT ?4", below, filter.actor,
                                       filter.action, limit + 1);
#undef BATON_AUDIT
  AuditPage page;
  while (query.step()) {
    if (std::ssize(page.lines) == limit) {
      page.next = page.lines.empty() ? 0 : page.lines.back().key;
      break;
    }
    AuditLine line{query.integer(0), base::from_ms(query.integer(1)), {}};
    line.entry = {query.text(2),   query.text(3),   query.text(4),   query.text(5),  {query.integer(6)},
                  {query.text(7)}, {query.text(8)}, {query.text(9)}, query.text(10), {}};
    page.lines.push_back(std::move(line));
  }
  return page;
}

std::vector<AgentControl> read_controls(Connection& connection) {
  std::vector<AgentControl> controls;
  Query query = connection.query(
      "SELECT agent, paused, actor, reason, at_ms, workers, concurrency FROM agent_controls ORDER BY agent");
  while (query.step()) {
    controls.push_back({{query.text(0)},
                        query.truth(1),
                        query.text(2),
                        query.text(3),
                        base::from_ms(query.integer(4)),
                        static_cast<int>(query.integer(5)),
                        static_cast<int>(query.integer(6))});
  }
  return controls;
}

std::vector<BulkJob> read_jobs(Connection& connection, int limit) {
  std::vector<BulkJob> jobs;
  Query query = connection.query(BATON_JOBS "ORDER BY job_key DESC LIMIT ?", limit);
  while (query.step()) jobs.push_back(job_of(query));
  return jobs;
}

base::Result<BulkJob> read_job(Connection& connection, task::BulkJobKey key) {
  Query query = connection.query(BATON_JOBS "WHERE job_key = ?", key);
  if (!query.step()) return fail(ErrorCode::not_found, "job not found");
  return job_of(query);
}

std::vector<BulkItem> read_items(Connection& connection, task::BulkJobKey job, task::TaskKey after, int limit,
                                 bool open) {
  Query query =
      open ? connection.query(
                 "SELECT task_key, outcome, detail FROM bulk_items INDEXED BY bulk_items_open "
                 "WHERE job_key = ? AND task_key > ? AND outcome = '' ORDER BY task_key LIMIT ?",
                 job, after, limit)
           : connection.query(
                 "SELECT task_key, outcome, detail FROM bulk_items WHERE job_key = ? AND task_key > ? "
                 "ORDER BY task_key LIMIT ?",
                 job, after, limit);
  std::vector<BulkItem> items;
  while (query.step()) items.push_back({{query.integer(0)}, query.text(1), query.text(2)});
  return items;
}

}  // namespace baton::store::sql
