// OperatorTable: the audit log, the agents' controls, bulk jobs, crashed turns and API keys, for the
// MemoryStore.
//
// Threads: guarded by its owner.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "store/memory/key_table.h"
#include "store/operator_store.h"

namespace baton::store::memory {

class OperatorTable {
 public:
  using JobStates = std::map<task::BulkJobKey, BulkJob::State>;

  // Checks that the write can be applied. Fails with already_exists (a new job's key), not_found or conflict
  // (a job's new state). `open`: the states of the jobs that the open group makes or changes.
  base::Result<void> check(const OperatorWrite& write, const JobStates& open) const;
  void apply(const OperatorWrite& write, base::Timestamp at);

  AuditPage audit(const AuditFilter& filter, std::int64_t before, int limit) const;
  std::vector<AgentControl> controls() const;
  std::vector<BulkJob> jobs(int limit) const;
  const BulkJob* job(task::BulkJobKey key) const;
  std::vector<BulkItem> items(task::BulkJobKey job, task::TaskKey after, int limit, bool open) const;

  const KeyTable& keys() const { return keys_; }

  // Returns the task that the newest retry of this task created; 0 if there is none.
  task::TaskKey retried_as(task::TaskKey task) const;

  // Returns the crashed turns of existing tasks, including turns that have ended.
  const std::map<task::TaskKey, CrashedTurn>& crashed() const { return crashed_; }
  // Records a crash for these turns, which were running, unless the program was asked to stop.
  void note_crashed(const std::vector<CrashedTurn>& running);
  void forget_crashed(task::TaskKey task) { crashed_.erase(task); }

 private:
  void put(const task::AuditEntry& entry, base::Timestamp at);
  void put(const AgentControl& control, base::Timestamp at);
  void put(const AgentScale& scale, base::Timestamp at);
  void put(const BulkJob& job, base::Timestamp at);
  void put(const BulkItems& items, base::Timestamp at);
  void put(const BulkState& state, base::Timestamp at);
  void put(const BulkCount& count, base::Timestamp at);
  void put(const ProgramBegins&, base::Timestamp) {}  // Tables::apply handles it
  void put(const ProgramStops& what, base::Timestamp) { has_stopped_ = what.stops; }
  void put(const CrashCounts& counts, base::Timestamp at);
  template <class KeyWrite>
  void put(const KeyWrite& write, base::Timestamp at) {
    keys_.put(write, at);
  }

  std::vector<AuditLine> audit_;  // line n has the key n + 1
  std::map<task::AgentName, AgentControl> controls_;
  std::map<task::BulkJobKey, BulkJob> jobs_;
  std::map<std::pair<task::BulkJobKey, task::TaskKey>, BulkItem> items_;
  std::map<task::TaskKey, CrashedTurn> crashed_;
  KeyTable keys_;
  bool has_stopped_ = true;
};

}  // namespace baton::store::memory
