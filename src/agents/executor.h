// Executor: the code that runs an agent's turns. The engine gives it a Turn and a TurnSink; it reports output
// to the sink and ends with `finish`.
//
// Threads: `start` must not block and may be called from any thread. A sink may be called from any thread,
// one call at a time for each turn. Execution's methods may be called from any thread.
// Ownership: the engine owns the Execution and drops it after `finish`, or before, to end the turn. The
// engine and the executor share the sink. After `finish` a sink ignores further calls.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "agents/said_replies.h"
#include "agents/used_ids.h"
#include "base/error.h"
#include "task/card.h"
#include "task/event.h"
#include "task/head.h"
#include "task/task.h"

namespace baton::agents {

// The result of work that a turn delegated to another agent.
struct DelegateResult {
  std::string id;
  std::optional<task::Task> task;  // the child, once it has stopped; absent if there is none
  std::string error;               // why there is no child, or why it did not complete
  // Used by the child and its own children.
  std::int64_t tokens = 0;
  std::int64_t children = 0;
};

// A piece of a reply that has an id of its own. All pieces with one id form the reply, whatever comes between
// them, so several replies can be streamed in turns.
struct ReplyPiece {
  task::ArtifactId id;
  std::string text;
  bool anew = false;  // the reply begins, or `text` replaces what it had; an empty `text` withdraws it
  bool last = false;  // the reply ends
};

// Everything an agent gets when its turn begins.
struct Turn {
  std::string id;   // unique for each turn; the same for all its attempts
  int attempt = 1;  // above 1: an earlier attempt was broken off by a crash or restart
  task::AgentName agent;
  task::TaskId task;
  task::TaskKey key;  // the task in the store
  task::ContextId context;
  // Submission::hops. For executors that act outside, this agent is the last hop.
  std::vector<std::string> hops;
  std::string account;       // the owner of the task (task::account_of), for limits per account
  std::string conversation;  // the context's name for executors that act outside; different for each caller
  task::State state = task::State::working;
  task::Json task_metadata;
  task::Message message;                 // what this turn is about
  std::optional<task::Message> request;  // the task's first message, if `message` is a later one
  std::vector<task::Message> history;    // earlier messages of this context, oldest first
  // For models, if the caller has sent a history with tool calls: the stored messages instead.
  std::optional<std::vector<task::Message>> stored_history;
  std::vector<task::Artifact> artifacts;  // what this task has made so far
  std::vector<task::Task> references;     // other tasks that the message refers to
  task::Json tools;                       // client tools, a list, or absent
  task::Json client_state;                // shared state, or absent
  task::Json metadata;                    // of the request
  std::vector<std::string> extensions;    // of A2A, switched on for the request
  std::string resume_ask;                 // the ask this message answers, or empty
  // The results of children that were delegated to since this message and had stopped when the turn began
  // (or began again). Children that are still awaited are not included.
  std::vector<DelegateResult> results;
  task::Json kept;                 // the last ExecutorState of an earlier attempt; absent: none
  std::vector<task::Json> states;  // every ExecutorState since the message, in order
  // For a plan: the replies that the log has since the message. They are those of a child
  // (DelegateRequest::shows_replies). Their ids are `said_ids` and the ordinal that they have in the child,
  // so the reply of a later attempt takes the place of an earlier one's.
  std::vector<SaidReply> said;
  std::string said_ids;
  // The beginning of the ids of replies (TurnSink::reply) that the turn makes itself; the same in each
  // attempt.
  std::string reply_ids;
  // The children that were delegated to since the message, by DelegateRequest::id.
  std::unordered_map<std::string, task::TaskKey> children;
  // Reads one of these children. Blocks on the disk.
  std::function<base::Result<task::Task>(task::TaskKey)> read_child;
  bool canceled = false;  // the task was canceled, and this turn undoes its work
  // The budget of the task and the tasks below it, and what they had used when the turn began.
  // `budget.wall` is the time that was then left before `budget.until`.
  task::Budget budget;
  task::Taken taken;
  bool again = false;  // the turn was broken off after it had delegated, and begins again with the results
  std::shared_ptr<UsedIds> used_ids;  // of the context; null if no ids are used yet
  // The `traceparent` for all requests that the turn makes: the trace of its message, with this attempt's
  // own span. Empty if the message came without a trace.
  std::string trace;
  // The access token of the task's caller, for executors whose card has `exchange`; null: there is none
  // now.
  task::SubjectTokenPtr subject = nullptr;
};

// The hidden agent whose tasks are calls of MCP tools. Only models may delegate to it.
inline constexpr char kToolAgent[] = "~tool";

// A child task that an agent delegates to another agent.
struct DelegateRequest {
  std::string id;     // the agent's own name for it; comes back with the result
  std::string agent;  // a local agent's name
  task::Message message;
  task::TaskId task;  // the waiting child that the message answers; empty: a new child
  // If true, the child's questions are results for this turn. Otherwise they go to the task's caller, and
  // the turn gets the child once it has ended. After the turn has answered a child, its next questions
  // come to the turn again.
  bool takes_questions = false;
  bool detached = false;   // the child outlives the task, and `Waits` does not wait for it
  std::string label = {};  // what the log shows it as; empty: the agent's name
  // While the task waits for the child, the child's replies are shown as its own, as they come. The turn that
  // gets the result completes them (TurnSink::reply), or withdraws them.
  bool shows_replies = false;
  // Replaces the rest of the task's budget as the child's budget, and the task's budget then does not
  // refuse the child. For undoing the work of a task that has used up its own budget.
  std::optional<task::Budget> budget = {};
  // The child undoes the work of a plan's step, so it begins although the task is being canceled and the turn
  // does not know that yet.
  bool undoes = false;
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
// The agent stopped because it was asked to.
struct Canceled {
  std::string text = {};  // of the canceled status, unless the cancel request gave a reason
};
// The turn was broken off but has not failed. Its output is withdrawn, and it runs again as the same
// attempt once the children that it awaits have stopped.
struct BrokenOff {
  bool counts = false;  // the next run is a new attempt, which an operator has asked for
};
// The turn is over, and another turn continues the work when these conditions hold; by default once all
// children of the task have stopped. The turn's output stands. A wait without children ends at `until`.
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

  // A piece of a reply with an id of its own. Ends the reply of `text`; only its own `last` and the turn's
  // end end this one.
  virtual void reply(ReplyPiece piece) = 0;

  // Streamed reasoning, which works like `text`. Text ends a span of reasoning, and reasoning ends a
  // reply.
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

  // Cancels the child that was delegated to with this id since the turn's message. Its result is still
  // delivered.
  virtual void cancel_child(const std::string& /*call*/) {}

  // Returns false once the turn is to stop, when its output no longer counts. For loops over received
  // data, and for executors whose `start` takes long.
  virtual bool is_wanted() const { return true; }

  // Ends the turn. Only the first call counts.
  virtual void finish(Outcome outcome) = 0;
};

// An executor's run of one turn.
class Execution {
 public:
  // Releases everything: its process will be killed and reaped, and callbacks do not touch the sink again.
  // May block only for a call to the sink that is in progress.
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

  // Called when a task of this agent was canceled while it waited with this question, so nobody will
  // answer it. Must not block; from any thread.
  virtual void withdraw_question(const task::AgentName& /*agent*/, const std::string& /*ask*/) {}

  // The card to show in place of the one in the agent's folder; null: show that one. Must not block; from
  // any thread.
  virtual std::shared_ptr<const task::AgentCard> card() const { return nullptr; }

  // The things that its turns need and that are missing now, one line each. Reported as warnings about the
  // card.
  virtual std::vector<std::string> missing() const { return {}; }

  // The last lines that the agent's processes have written to standard error, escaped for display. From any
  // thread.
  virtual std::vector<std::string> error_lines() const { return {}; }

  // Sets the number of worker processes, if the executor keeps any, and of concurrent turns, as an
  // operator wants them. Running turns finish where they are. Must not block; from any thread.
  virtual void scale(int /*workers*/, int /*concurrency*/) {}

  // Called when another executor replaces this one. Releases everything that its running turns do not
  // need; they continue.
  virtual void retire() {}
};

}  // namespace baton::agents
