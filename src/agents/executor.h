// Executor: the code that runs an agent's turns. The engine gives it a Turn and a TurnSink; it reports output
// to the sink and ends with `finish`.
//
// Threads: `start` must not block and may be called from any thread. A sink may be called from any thread,
// one call at a time for each turn. Execution's methods may be called from any thread.
// Ownership: the engine owns the Execution and drops it after `finish`, or before, to end the turn. The
// engine and the executor share the sink. After `finish` a sink ignores further calls.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "agents/used_ids.h"
#include "base/error.h"
#include "task/card.h"
#include "task/event.h"
#include "task/head.h"
#include "task/task.h"

namespace baton::agents {

// What came of work that a turn delegated to another agent.
struct DelegateResult {
  std::string id;
  std::optional<task::Task> task;  // the child, stopped; absent if there is none
  std::string error;               // why there is none, or why it did not complete
  // What the child and its own children took.
  std::int64_t tokens = 0;
  std::int64_t children = 0;
};

// Everything an agent gets when its turn begins.
struct Turn {
  std::string id;   // unique for each turn; the same for all its attempts
  int attempt = 1;  // above 1: an earlier attempt was broken off by a crash or restart
  task::AgentName agent;
  task::TaskId task;
  task::TaskKey key;  // the task in the store
  task::ContextId context;
  // Submission::hops; for executors that act outside with this agent as the last one.
  std::vector<std::string> hops;
  std::string account;       // whose task it is (task::account_of), where each may have its share only
  std::string conversation;  // the context's name for executors that act outside; different for each caller
  task::State state = task::State::working;
  task::Json task_metadata;
  task::Message message;                  // what this turn is about
  std::vector<task::Message> history;     // earlier messages of this context, oldest first
  std::vector<task::Artifact> artifacts;  // what this task has made so far
  std::vector<task::Task> references;     // other tasks that the message refers to
  task::Json tools;                       // client tools, a list, or absent
  task::Json client_state;                // shared state, or absent
  task::Json metadata;                    // of the request
  std::vector<std::string> extensions;    // of A2A, switched on for the request
  std::string resume_ask;                 // the ask this message answers, or empty
  // What children have answered that were delegated to about this message, before the turn began (again).
  // Those that are still awaited are not among them.
  std::vector<DelegateResult> results;
  task::Json kept;                 // the last ExecutorState of an earlier attempt; absent: none
  std::vector<task::Json> states;  // every ExecutorState since the message, in order
  // The children that were delegated to since the message, by the name of the work.
  std::unordered_map<std::string, task::TaskKey> children;
  // Reads one of them. Blocks on the disk.
  std::function<base::Result<task::Task>(task::TaskKey)> read_child;
  bool canceled = false;  // the task is to end, and this turn undoes what was done
  // What the task and those below it may take, and what they had taken when the turn began. `wall` is what
  // was left then until `until`.
  task::Budget budget;
  task::Taken taken;
  bool again = false;  // it was broken off after it had delegated, and begins again with the results
  std::shared_ptr<UsedIds> used_ids;  // of the context; null: none are taken
  // The `traceparent` of all that the turn asks of others: the trace its message came with, and this
  // attempt's own span. Empty: the message came without one.
  std::string trace;
};

// A child task that an agent delegates to another agent.
struct DelegateRequest {
  std::string id;     // the agent's own name for it; comes back with the result
  std::string agent;  // a local agent's name
  task::Message message;
  task::TaskId task;  // the waiting child that the message answers; empty: a new child
  // The child's questions are results for this turn. Otherwise they go to the task's caller, and the turn
  // gets the child when it has ended. A child that the turn answers asks it again.
  bool takes_questions = false;
  bool detached = false;   // the child outlives the task, and `Waits` does not wait for it
  std::string label = {};  // what the log shows it as; empty: the agent's name
  // What the child may take, instead of what is left of the task's budget, which then does not refuse it: of
  // work that undoes what a task has done that may take no more.
  std::optional<task::Budget> budget = {};
};

// How a turn ended. Exactly one of these ends every turn.
struct Done {
  std::optional<task::Message> message;
};
struct Failed {
  std::string error;  // for the caller: no path, no stack trace
};
struct Rejected {
  std::string reason;
};
// The task waits for its caller: for input, or for authorisation.
struct Asked {
  std::string id;  // of the ask; comes back as Turn::resume_ask
  bool for_auth = false;
  task::Message message;
};
// The agent was told to stop and did.
struct Canceled {
  std::string text = {};  // of the canceled status, unless whoever canceled the task has said why
};
// The turn was broken off through no fault of its own. Its output is withdrawn, and it runs again as the same
// attempt, once the children that it awaits have stopped.
struct BrokenOff {
  bool counts = false;  // what follows is another attempt: an operator has asked for it
};
// The work goes on, in another turn, when this says so; by default once all children have stopped that the
// task has delegated to. The turn's output stands. A wait that has no children to end it ends at `until`.
using Waits = task::Waits;
using Outcome = std::variant<Done, Failed, Rejected, Asked, Canceled, BrokenOff, Waits>;

class TurnSink {
 public:
  virtual ~TurnSink() = default;

  // Reports an event, in order. Message and artifact ids may be empty: the engine assigns them.
  virtual void emit(task::EventBody body) = 0;

  // Streamed reply text. Pieces form one reply until an event with content of its own is emitted; progress
  // notes and shared state do not end it.
  virtual void text(std::string delta) = 0;

  // The same for reasoning. Text ends a span of reasoning, and reasoning ends a reply.
  virtual void reasoning(std::string delta) = 0;

  // A batching hint: output between `hold` and `release` (or `finish`) may be kept back and stored in one go.
  // Calls do not nest.
  virtual void hold() {}
  virtual void release() {}

  // Backpressure: false while too much of the turn's output waits for the disk. Then stop reading from the
  // agent; `when_ready` is called once, from any thread, when there is room, unless the turn ends before.
  virtual bool ready(std::function<void()> when_ready) = 0;

  // The child's result comes through Execution::deliver.
  virtual void delegate(DelegateRequest request) = 0;

  // Cancels the child that was delegated to under this name since the turn's message. Its result still comes.
  virtual void cancel_child(const std::string& /*call*/) {}

  // Whether anything that the turn does still counts: not once it is to stop. For loops over what others have
  // sent, and for executors whose `start` takes long.
  virtual bool is_wanted() const { return true; }

  // Ends the turn. Only the first call counts.
  virtual void finish(Outcome outcome) = 0;
};

// An executor's run of one turn.
class Execution {
 public:
  // Leaves nothing behind: its process will be killed and reaped, and callbacks do not touch the sink again.
  // Must not block, but for a call to the sink that is in progress.
  virtual ~Execution() = default;

  // Asks the agent to stop. The executor has the cancel grace (AgentSettings) to call `finish`.
  virtual void cancel() = 0;

  virtual void deliver(DelegateResult result) = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Never fails: errors go to the sink through `finish`, before or after `start` has returned.
  virtual std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) = 0;

  // The task of this agent that waited with this question was canceled: nobody will answer it. Must not
  // block; from any thread.
  virtual void withdraw_question(const task::AgentName& /*agent*/, const std::string& /*ask*/) {}

  // The agent's card as it is to be shown, if that is not the one in its folder; null: it is. Must not block;
  // from any thread.
  virtual std::shared_ptr<const task::AgentCard> card() const { return nullptr; }

  // What its turns need and lacks now, a line each; for whoever reads the card.
  virtual std::vector<std::string> missing() const { return {}; }

  // The last lines that the agent's processes have written to standard error, escaped for display. From any
  // thread.
  virtual std::vector<std::string> error_lines() const { return {}; }

  // An operator wants so many processes kept, if it keeps any, and so many turns at once. Running turns
  // finish where they are. Must not block; from any thread.
  virtual void scale(int /*workers*/, int /*concurrency*/) {}

  // Another executor replaces this one. Its turns go on; it releases what they do not need.
  virtual void retire() {}
};

}  // namespace baton::agents
