// OperatorStore: the operators' view of all callers' tasks, and the operators' own actions. It uses the same
// database as TaskStore and DeliveryStore.
//
// Reads take bounded time: they stop scanning after `time_max`, return the rows found until then, and tell
// how far they came. Order and places do not depend on the filter, so a place from one query is valid in any
// other.
// Threads: as for TaskStore: `write` is one of its writes, reads are on any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "store/task_store.h"
#include "task/audit.h"

namespace baton::store {

// Selects tasks. A field that is empty or absent lets all tasks pass. Hidden tasks pass while they have a
// turn.
struct TaskFilter {
  std::vector<task::State> states = {};
  bool unfinished = false;                  // has a turn: queued, running or waiting
  std::vector<task::TurnState> turns = {};  // has a turn in one of these states, or no turn (`none`)
  task::AgentName agent = {};
  task::Caller caller = {};  // with all its tenants, or within one if it names a tenant
  task::ContextId context = {};
  task::TaskKey parent = {};
  bool roots = false;                                // has no parent
  std::string schedule = {};                         // the schedule's name
  std::optional<base::Timestamp> status_until = {};  // its status is from this time or earlier
  int attempts_min = 0;
  bool undelivered = false;          // has a webhook delivery that is pending or was given up
  std::optional<bool> retried = {};  // whether an operator has retried it
  std::string error = {};            // a part of its status text, ignoring the case of ASCII letters
  std::string id = {};               // its id begins with this, or has this short form (task/short_id.h)
};

// Orders tasks: by the time of the status, then by key.
struct TaskPlace {
  base::Timestamp status_at{};
  task::TaskKey key;
  friend auto operator<=>(const TaskPlace&, const TaskPlace&) = default;
};

struct TaskQuery {
  TaskFilter filter;
  bool oldest_first = false;
  std::optional<TaskPlace> after;  // a TaskPage's `next`
  int limit = 50;
  // A page ends after the first row that fails the filter after `time_max`, or that passes it after
  // `found_time_max`. The second limit is longer: a database may be a millisecond away, and a page of only a
  // few rows is useless.
  std::chrono::milliseconds time_max{50}, found_time_max{500};
  // The lines have the key and the status's time; other fields are set only if the filter needed them.
  bool keys_only = false;
};

// A task in a list.
struct TaskLine {
  task::TaskHead head;
  std::string schedule;
  std::string text;               // of its last status, at most the first kLineTextMax bytes
  int undelivered = 0;            // deliveries that are pending or were given up
  task::TaskKey retried_as = {};  // the newest task that an operator's retry created; 0: none
};
inline constexpr std::size_t kLineTextMax = 1200;

struct TaskPage {
  std::vector<TaskLine> lines;
  std::optional<TaskPlace> next;  // the start of the next page; absent if there is none
  bool is_cut = false;            // the time was over: tasks after `next` have not been checked
};

struct TaskCount {
  std::int64_t tasks = 0;
  bool exact = false;  // false: the number is a lower bound
};

struct DeliveryFilter {
  enum class State { open, waiting, given_up };  // open: waiting or given up
  State state = State::open;
  task::TaskKey task = {};  // if set and the state is `open`, delivered ones pass too
  task::AgentName agent = {};
  task::Caller caller = {};  // as in TaskFilter
};
struct DeliveryLine {
  DeliveryKey key;
  task::TaskKey task;
  task::AgentName agent;
  task::Caller caller;
  task::TaskId task_id;
  task::EventNumber event;
  std::string url;    // as its caller gave it; may contain secrets
  std::string state;  // "waiting", "delivered" or "given-up"
  int attempts = 0;
  base::Timestamp created{};
  std::optional<base::Timestamp> due;  // only for a config's first pending delivery
  std::string error;
};
// Newest first. Pass `next` as `before` to get the next page; 0 if there is none.
struct DeliveryPage {
  std::vector<DeliveryLine> lines;
  std::int64_t next = 0;
};

struct AuditFilter {
  std::string actor = {}, action = {};
  task::TaskKey task = {};
};
struct AuditLine {
  std::int64_t key = 0;
  base::Timestamp at{};
  task::AuditEntry entry;
};
struct AuditPage {
  std::vector<AuditLine> lines;  // newest first
  std::int64_t next = 0;         // as in DeliveryPage
};

// The operators' settings for an agent. Writing one pauses or resumes the agent; it does not change the
// scale.
struct AgentControl {
  task::AgentName agent;
  bool paused = false;
  std::string actor, reason;  // of the last pause or resume
  base::Timestamp at{};
  int workers = 0, concurrency = 0;  // see AgentScale
};
// The number of processes that an agent keeps, and of turns that it runs at once. 0: the card's value; unset:
// no change.
struct AgentScale {
  task::AgentName agent;
  std::optional<int> workers = {}, concurrency = {};
  std::string actor, reason;
};

// One action on each task that a filter finds. The list of tasks is stored before the action begins.
// `counted`: the list is complete, and the job, still in preparation, waits for an operator to confirm the
// number.
struct BulkJob {
  enum class State { preparing, running, done, abandoned };
  task::BulkJobKey key;
  base::Timestamp at{};
  std::string actor, action, reason;
  std::string filter;      // as the operator gave it
  std::int64_t tasks = 0;  // during preparation, the number until now
  State state = State::preparing;
  std::int64_t done = 0, refused = 0;
  bool counted = false;
  NodeId node = {};  // that stores the list of tasks; 0 if the store is not shared
};
struct BulkItem {
  task::TaskKey task;
  std::string outcome;  // as in AuditEntry; empty: not acted on yet
  std::string detail;
};

// Adds items to a job in preparation.
struct BulkItems {
  task::BulkJobKey job;
  std::vector<task::TaskKey> tasks;
};
// Only a job in preparation begins to run or is abandoned, and no abandoned job is done: otherwise fails with
// conflict.
struct BulkState {
  task::BulkJobKey job;
  BulkJob::State state = BulkJob::State::running;
};

// A turn that was running when its program crashed, and has not ended since. A turn whose task has open
// children, which work or wait for people, is not counted, because a child is the suspect then.
struct CrashedTurn {
  task::TaskKey task;
  task::TurnNumber turn;
  int deaths = 0;                // counted crashes in a row, without stored output in between
  int alone = 0;                 // crashes of those while it was the only suspect that ran in its program
  task::EventNumber last_event;  // the task's last event when the last crash was counted
  enum class Seen { none, death, death_alone };
  Seen seen = Seen::none;                      // a crash that has not been counted yet
  std::optional<base::Timestamp> quarantined;  // the time since which its turn waits for an operator
};
inline constexpr int kSuspectDeaths = 3;     // a turn with this many crashes is a suspect
inline constexpr int kQuarantineDeaths = 2;  // crashes while a suspect ran alone, until it is quarantined

// Sets the number of tasks of a job in preparation.
struct BulkCount {
  task::BulkJobKey job;
  std::int64_t tasks = 0;
  bool counted = false;
};

// The program begins to use the store. Unless the store is shared, notes the turns that were running when the
// previous program ended without having been asked to stop. Forgets turns that have ended.
struct ProgramBegins {
  bool is_shared = false;  // true: notes nothing, because the node that took over has noted the crash
};
// Whether the program was asked to stop. Only for a store that is not shared.
struct ProgramStops {
  bool stops = true;
};
// Replaces the stored counts of these turns. Turns without a crash are forgotten.
struct CrashCounts {
  std::vector<CrashedTurn> turns;
};

// An API key, without its secret. The store knows when a key is valid, but neither roles nor scopes: they are
// words of the server. Names in lists are separated by spaces.
struct ApiKey {
  std::string id;      // the part of the key that is no secret
  std::string digest;  // of its secret, in hexadecimal
  std::string caller;
  std::string role, scopes;
  std::string agents;  // the agents it is valid for; empty: all
  bool binds_children = false;
  std::string by;  // the operator who created it
  base::Timestamp created{};
  std::optional<std::chrono::milliseconds> lifetime = {};  // as given; unset: without end
  std::optional<base::Timestamp> expires = {},
                                 revoked = {};  // a replaced key expires before its lifetime is over
  std::optional<base::Timestamp> used = {};     // for the last time, to the minute

  bool is_valid(base::Timestamp at) const { return !revoked && (!expires || *expires > at); }
};
inline constexpr int kApiKeysPerCaller = 2;         // that are valid at once
inline constexpr int kEndedApiKeysPerCaller = 100;  // that are kept after their end
inline constexpr int kApiKeysMax = 10'000;          // that are valid at once, of all callers
// The refusals of writes of keys.
inline base::Error no_such_api_key() {
  return {base::ErrorCode::not_found, "key not found", {}};
}
inline base::Error api_key_is_over() {
  return {base::ErrorCode::conflict, "the key was revoked or has expired: create a new one", {}};
}
inline base::Error api_key_is_revoked() {
  return {base::ErrorCode::conflict, "the key is already revoked", {}};
}
inline base::Error too_many_api_keys() {
  return {base::ErrorCode::conflict, "the caller has two valid keys already: revoke one first", {}};
}

inline base::Error too_many_ended_api_keys() {
  return {base::ErrorCode::conflict,
          "the caller has " + std::to_string(kEndedApiKeysPerCaller) +
              " keys that ended in the last 30 days: wait until the oldest is removed",
          {}};
}
inline base::Error all_api_keys_taken() {
  return {
      base::ErrorCode::conflict, "there are as many valid keys as one database may have: revoke some", {}};
}

// Creates a key. Fails with already_exists (its id), or with conflict if there are as many keys of the
// caller, or of all, as there may be. `created` is the time of the write. With `replaces`, also makes that
// key of the same caller expire at `old_until`, unless it does so earlier; fails with not_found if there is
// none, and with conflict if it is not valid. Two nodes that create keys at the same moment may exceed the
// number.
struct NewApiKey {
  ApiKey key;
  std::string replaces = {};
  base::Timestamp old_until{};
  int all_max = kApiKeysMax;
};
// Whether the key is valid beside the new one.
inline bool counts(const ApiKey& key, const NewApiKey& made, base::Timestamp at) {
  return key.is_valid(at) && (key.id != made.replaces || made.old_until > at);
}
// Fails with not_found, or with conflict if the key is already revoked.
struct RevokedApiKey {
  std::string id;
};
// Sets the times of the last use, unless later ones are stored. Unknown keys are ignored.
struct UsedApiKeys {
  std::vector<std::pair<std::string, base::Timestamp>> keys;
};
// Removes the keys that were revoked or have expired before this time.
struct OldApiKeys {
  base::Timestamp before{};
};
// Removes all keys of a caller. `gone`, if not null, gets their number before the write returns.
struct ApiKeysOfCaller {
  std::string caller;
  std::int64_t* gone = nullptr;
};

// A BulkJob creates a job; its key must be new. An AuditEntry records an action that changes no task.
using OperatorWrite = std::variant<task::AuditEntry, AgentControl, AgentScale, BulkJob, BulkItems, BulkState,
                                   BulkCount, ProgramBegins, ProgramStops, CrashCounts, NewApiKey,
                                   RevokedApiKey, UsedApiKeys, OldApiKeys, ApiKeysOfCaller>;

class OperatorStore {
 public:
  virtual ~OperatorStore() = default;

  virtual base::Result<TaskPage> page(const TaskQuery& query) const = 0;
  // Exact if the filter selects only by state, agent and caller; otherwise a number that needs no scan.
  virtual base::Result<TaskCount> count(const TaskFilter& filter) const = 0;
  // The numbers of visible tasks: those at rest by agent and state, those with a turn by turn state.
  struct AgentCounts {
    task::AgentName agent;
    std::vector<std::pair<task::State, std::int64_t>> at_rest;
    std::int64_t queued = 0, running = 0, waiting = 0;
  };
  virtual base::Result<std::vector<AgentCounts>> counts_by_agent() const = 0;
  virtual base::Result<TaskLine> line(task::TaskKey key) const = 0;

  virtual base::Result<DeliveryPage> deliveries(const DeliveryFilter& filter, std::int64_t before,
                                                int limit) const = 0;
  virtual base::Result<DeliveryLine> delivery(DeliveryKey key) const = 0;
  virtual base::Result<AuditPage> audit(const AuditFilter& filter, std::int64_t before, int limit) const = 0;
  virtual base::Result<std::vector<AgentControl>> agent_controls() const = 0;

  // Newest first.
  virtual base::Result<std::vector<BulkJob>> bulk_jobs(int limit) const = 0;
  virtual base::Result<BulkJob> bulk_job(task::BulkJobKey key) const = 0;
  // At most `limit` items with task keys above `after`, in order. `open`: only those not acted on yet.
  virtual base::Result<std::vector<BulkItem>> bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                         bool open) const = 0;

  // Returns the crashed turns by task, without those that have ended. A quarantined turn that was queued
  // again is not included.
  virtual base::Result<std::vector<CrashedTurn>> crashed_turns() const = 0;

  // Returns all API keys, those that are no longer valid too, by time of creation.
  virtual base::Result<std::vector<ApiKey>> api_keys() const = 0;
  // Fails with not_found.
  virtual base::Result<ApiKey> api_key(const std::string& id) const = 0;
  // Returns a number that changes with the keys, but not with their last use. Cheaper than reading them.
  virtual base::Result<std::int64_t> api_keys_state() const = 0;

  // Adds the write to the open group, as TaskStore::apply adds a change.
  virtual base::Result<void> write(const OperatorWrite& write) = 0;
};

}  // namespace baton::store
