// OperatorStore: what whoever runs this server sees of all callers' tasks, and what they have done. One
// database with TaskStore and DeliveryStore.
//
// Reads answer in bounded time: they stop scanning after `time_max` with what they have found, and say how
// far they came. Order and places do not depend on the filter, so a place of one query is one of any other.
// Threads: as TaskStore says: `write` is one of its writes, reads are on any thread.
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

// Which tasks; a field that is empty or absent lets all pass. Hidden tasks pass while they have a turn.
struct TaskFilter {
  std::vector<task::State> states = {};
  bool unfinished = false;                  // has a turn: queued, running or waiting
  std::vector<task::TurnState> turns = {};  // its turn is in one of these states; none: it has no turn
  task::AgentName agent = {};
  task::Caller caller = {};  // with all its tenants; or within one, if it names a tenant
  task::ContextId context = {};
  task::TaskKey parent = {};
  bool roots = false;                                // has no parent
  std::string schedule = {};                         // its name
  std::optional<base::Timestamp> status_until = {};  // its status is of this time or older
  int attempts_min = 0;
  bool undelivered = false;          // has a webhook delivery that waits or was given up
  std::optional<bool> retried = {};  // whether an operator has sent it again
  std::string error = {};            // in the text of its status, in any case of ASCII letters
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
  // A page is cut behind the first row that does not pass after `time_max`, or that does after
  // `found_time_max`: a server may be a millisecond away, and a page of a few rows is of no use.
  std::chrono::milliseconds time_max{50}, found_time_max{500};
  // The lines have the key and the status's time for sure, and of the rest what has been looked at.
  bool keys_only = false;
};

// A task in a list.
struct TaskLine {
  task::TaskHead head;
  base::Timestamp created{};
  std::string schedule;
  std::string text;               // of its last status, the first kLineTextMax bytes at most
  int undelivered = 0;            // deliveries that wait or were given up
  task::TaskKey retried_as = {};  // the newest task that an operator has made of it; 0: none
};
inline constexpr std::size_t kLineTextMax = 1200;

struct TaskPage {
  std::vector<TaskLine> lines;
  std::optional<TaskPlace> next;  // where the next page begins; nothing: there is no more
  bool is_cut = false;            // time was up: what lies after `next` has not been looked at
};

struct TaskCount {
  std::int64_t tasks = 0;
  bool exact = false;  // else there are at least so many
};

struct DeliveryFilter {
  enum class State { open, waiting, given_up };  // open: waiting or given up
  State state = State::open;
  task::TaskKey task = {};  // with it, delivered ones pass as well if the state is `open`
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
  std::string url;    // as its caller gave it: may hold secrets
  std::string state;  // "waiting", "delivered" or "given-up"
  int attempts = 0;
  base::Timestamp created{};
  std::optional<base::Timestamp> due;  // of a config's first one that waits
  std::string error;
};
// Newest first. `next`: pass it as `before` to go on; 0: there is no more.
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

// What operators have switched at an agent. Writing one pauses or resumes, and changes no scale.
struct AgentControl {
  task::AgentName agent;
  bool paused = false;
  std::string actor, reason;  // of the last pause or resume
  base::Timestamp at{};
  int workers = 0, concurrency = 0;  // see AgentScale
};
// How many processes an agent keeps, and how many turns it runs at once. 0: as its card says; unset: no
// change.
struct AgentScale {
  task::AgentName agent;
  std::optional<int> workers = {}, concurrency = {};
  std::string actor, reason;
};

// One action on each task that a filter found. Its tasks are written down before the first one is acted on;
// `counted`: they are, and the job, which is being prepared, waits for somebody to confirm their number.
struct BulkJob {
  enum class State { preparing, running, done, abandoned };
  task::BulkJobKey key;
  base::Timestamp at{};
  std::string actor, action, reason;
  std::string filter;      // as the operator gave it
  std::int64_t tasks = 0;  // while they are being counted, so far
  State state = State::preparing;
  std::int64_t done = 0, refused = 0;
  bool counted = false;
};
struct BulkItem {
  task::TaskKey task;
  std::string outcome;  // as in AuditEntry; empty: not acted on yet
  std::string detail;
};

// Adds items to a job that is prepared.
struct BulkItems {
  task::BulkJobKey job;
  std::vector<task::TaskKey> tasks;
};
struct BulkState {
  task::BulkJobKey job;
  BulkJob::State state = BulkJob::State::running;
};

// A turn that ran when its program died, and has not ended since. A turn whose task has open children, which
// work or wait for people, is not counted: a child is the suspect then.
struct CrashedTurn {
  task::TaskKey task;
  task::TurnNumber turn;
  int deaths = 0;                // counted: in a row, without output stored in between
  int alone = 0;                 // of them, while it was the only suspect that ran in its program
  task::EventNumber last_event;  // of the task, once the last one was counted
  enum class Seen { none, death, death_alone };
  Seen seen = Seen::none;                      // what is to be counted
  std::optional<base::Timestamp> quarantined;  // since when its turn waits for an operator
};
inline constexpr int kSuspectDeaths = 3;     // from which on a turn is a suspect
inline constexpr int kQuarantineDeaths = 2;  // of a suspect that ran alone, until its turn is quarantined

// How many tasks a job has that is being prepared.
struct BulkCount {
  task::BulkJobKey job;
  std::int64_t tasks = 0;
  bool counted = false;
};

// The program begins to use the store, which it does not share with others: notes the turns that ran when the
// one before died, unless that was asked to stop. Forgets those that have ended.
struct ProgramBegins {
  bool is_shared = false;  // then notes nothing: the node that took over has noted the death
};
// Whether the program was asked to stop. Of a store that is not shared.
struct ProgramStops {
  bool stops = true;
};
// Replaces what is noted of these turns; those without a death are forgotten.
struct CrashCounts {
  std::vector<CrashedTurn> turns;
};

// A BulkJob makes a job; its key must be new. An AuditEntry is for what changes no task.
using OperatorWrite = std::variant<task::AuditEntry, AgentControl, AgentScale, BulkJob, BulkItems, BulkState,
                                   BulkCount, ProgramBegins, ProgramStops, CrashCounts>;

class OperatorStore {
 public:
  virtual ~OperatorStore() = default;

  virtual base::Result<TaskPage> page(const TaskQuery& query) const = 0;
  // Exact for what is selected by state, agent and caller alone; else what can be told without a scan.
  virtual base::Result<TaskCount> count(const TaskFilter& filter) const = 0;
  // How many visible tasks at rest there are, by agent and state; those with a turn by turn state.
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

  // By task, without those that have ended. A quarantined one that was queued again is none any more.
  virtual base::Result<std::vector<CrashedTurn>> crashed_turns() const = 0;

  // Adds it to the open group, as TaskStore::apply does a change.
  virtual base::Result<void> write(const OperatorWrite& write) = 0;
};

}  // namespace baton::store
