// RunningTurn: a turn that has begun. Stores the executor's output in order, and turns its outcome into the
// task's next state.
//
// Guarantees, whatever races:
// - Output is stored in the order of arrival. At most one change of a turn waits for the engine's thread;
//   output that arrives while it waits is added to it, with consecutive text joined.
// - Once the turn has ended, here or on another node, none of its output is stored: every change is fenced
//   with the turn and its attempt.
// - The turn ends once. A cancel requested before the executor finishes ends the task as canceled, unless the
//   executor still completes its work, or the task first undoes its work (undoes_first in turn_ending.h).
// - Messages that arrive during the turn are not lost: instead of completing or asking its caller, the task
//   continues with the next message.
// - Canceling a turn whose plan has steps to undo ends the turn but not the task. The next turn undoes them.
// - A turn that ends by waiting ends only when the log has each child that it asked for, or the reason why
//   there is no child.
// - While the task shows a child's question, the turn continues. Its output is stored, except notes about its
//   progress, because the task's status is the question. The turn's deadline is paused.
//
// Threads: any. The lock is not held during a call to the executor or to other parts.
// Shared by: the registry of running turns, the executor, and pending decisions and timers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/cards/catalogue.h"
#include "agents/executor.h"
#include "agents/settings.h"
#include "agents/tool_spans.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/span.h"
#include "engine/decide/inbox.h"
#include "engine/decide/rules/child_questions.h"
#include "engine/decide/rules/pending_output.h"
#include "engine/shared/background.h"
#include "engine/shared/options.h"
#include "engine/turns/turn_log.h"

namespace baton::engine {

class TurnRunner;

class RunningTurn final : public agents::TurnSink, public std::enable_shared_from_this<RunningTurn> {
 public:
  // The dependencies of a turn. They outlive every turn.
  struct Services {
    Inbox& inbox;
    Background& background;
    const base::Clock& clock;
    const EngineOptions& options;
    base::SpanQueue* spans;  // null: none are recorded
    ChildQuestions& questions;
    TurnRunner& runner;  // keeps the turns
  };

  RunningTurn(const Services& services, task::TaskHead head, const agents::Agent& agent);

  // Call when the executor is about to start. From now on output is accepted, but held back until `attach`.
  void started();
  // Returns true if the executor may start: the turn has not been stopped.
  bool may_start();
  // Call when the executor has started. Null: it must not start, or could not.
  void attach(std::unique_ptr<agents::Execution> running);

  // Call if the executor starts with the knowledge that the task is canceled (Turn::canceled): a plan undoes
  // its steps.
  void mark_undoing();
  // Tells the executor to stop, and ends the turn after the grace. Call after the cancel request is stored.
  // `reason`: the text of the canceled status; empty: no text.
  void cancel(std::string reason = {});
  // Breaks the turn off so that it runs again as another attempt. Call after the operator's request is
  // stored.
  void break_off() { force(agents::BrokenOff{true}); }
  // Ends the turn without storing anything: the program is stopping and a restart resumes the turn from the
  // log, or another node has the turn now.
  void abandon();
  // Returns true if the turn's end has been decided. Call on the engine's thread.
  bool is_ending() const;
  // Sets the turn's log, which is empty for a turn that begins for the first time. Call before the executor
  // starts.
  void set_log(TurnLog log);
  // The origin of the turn's request, which its children inherit: the hops and the turn's trace. Set before
  // the executor starts.
  struct Lineage {
    std::vector<std::string> hops;
    std::string trace;
    std::string parent = {};                    // the trace that the turn's message came with
    std::vector<task::TaskId> references = {};  // other tasks that its message named
    std::string first = {};  // trace of the task's first message, if known and not this turn's
  };
  void inherit(Lineage lineage);
  Lineage lineage() const;
  // Returns true if the request is for a child that does not exist yet, according to the log. `nth`: see
  // ChildWanted.
  bool asks_anew(const agents::DelegateRequest& request, int nth) const;
  // Returns the budget of a child that was admitted: the request's own, or what is left of the task's. Null
  // if the child has no budget.
  std::shared_ptr<const task::Budget> budget_of(const agents::DelegateRequest& request) const;
  // Call when a child that the turn asked for is stored. Logs its subagent, unless the log has it already.
  enum class Begun { logged, known, too_late };
  Begun begun(const task::Subagent& child);
  // Call when there will be no child; the turn gets this error. `is_counted`: the request was admitted as one
  // for a new child.
  void no_child(const std::string& agent, const std::string& id, const std::string& error,
                bool is_counted = true);
  // Logs how a child has stopped. Returns false if the turn takes no more output; its task may still wait for
  // this child.
  bool log_stop(const task::Subagent& child);
  void deliver(agents::DelegateResult result);
  // Call when the open questions of the task's children change. `now`: the task's head if something other
  // than this turn has changed the task.
  void questions_changed(const task::TaskHead* now = nullptr);

  task::TaskHead head() const;
  bool is_plan() const { return is_plan_; }
  bool is_over() const;
  // Returns true if the turn was abandoned: another one, here or on another node, continues its work.
  bool is_abandoned() const {
    return state_.with([](const State& state) { return state.abandoned; });
  }
  // The time since the turn began.
  base::SteadyTime::duration age() const { return base::SteadyTime::now() - begun_; }
  // Returns why the turn failed or was rejected; empty if it was not, or has not ended.
  std::string failure() const;
  // Returns true if the task may have children: this turn delegated, or it is not the task's first turn or
  // attempt.
  bool may_have_children() const;
  // Returns the id of the child's open subagent in the task's log; empty if there is none.
  std::string open_subagent(task::TaskKey child) const;

  void emit(task::EventBody body) override;
  void text(std::string delta) override;
  void reply(agents::ReplyPiece piece) override;
  void reasoning(std::string delta) override;
  void hold() override;
  void release() override;
  bool ready(std::function<void()> when_ready) override;
  void delegate(agents::DelegateRequest request) override;
  void cancel_child(const std::string& call) override;
  bool is_wanted() const override;
  void finish(agents::Outcome outcome) override;

 private:
  enum class Phase { starting, running, over };
  struct State {
    State(task::TaskHead now, const EngineOptions& options, agents::AgentSettings::ReplyAs reply_as)
        : head(std::move(now)),
          taken{head.tokens, head.children},
          output(head.id.value, head.turn.value, options.artifact_bytes_max, reply_as) {}

    Phase phase = Phase::starting;
    task::TaskHead head;
    task::Taken taken;  // the head's figures once everything is stored, with the children asked for
    PendingOutput output;
    bool held = false;      // between `hold` and `release`, or before `attach`
    bool posted = false;    // a decision about the output is pending
    bool may_wait = false;  // it may be delayed
    bool ending = false;    // that decision ended the turn
    bool lost = false;      // the turn is no longer the running one
    bool abandoned = false;
    bool dropped = false;  // some output could not be stored
    std::optional<agents::Outcome> outcome;
    bool is_starting = false;  // between `may_start` and `attach`
    bool is_stopping = false;  // the outcome was forced, and the executor is not released yet
    bool cancel_requested = false;
    bool is_undoing = false;  // its executor knows of the cancel
    std::string cancel_reason;
    std::function<void()> when_ready;
    std::vector<task::TaskKey> unneeded;  // children to cancel once all earlier output is stored
    int children = 0;                     // asked for, without a result
    int asked_for = 0;                    // of these, not yet in the log
    bool knows_log = false;               // `set_log` was called, or the executor is attached
    int awaited_at_begin = 0;             // children of earlier turns that have not stopped
    std::vector<task::Subagent> early;    // stops of those that came before `knows_log`
    bool delegated = false;
    Lineage lineage;
    agents::ToolSpans tools;  // the agent's own tool calls; used only if spans are recorded
    std::unordered_map<std::string, int> calls;        // how often each name was used to delegate
    std::unordered_map<std::string, int> known_calls;  // of these, by earlier attempts that got a child
    std::vector<task::Subagent> earlier;               // children that the log had when the turn began
    std::vector<task::Subagent> childless;             // requests without a child
    std::size_t childless_bytes = 0;                   // of their events
    bool slot_released = false;                        // while it waits for children
    std::vector<agents::DelegateResult> undelivered;   // came before the executor was attached
    std::shared_ptr<agents::Execution> running;        // also held by calls into it
    base::EventLoop::TimerId deadline = 0;
    base::SteadyTime::time_point ends_at{};         // when the deadline is
    std::optional<std::chrono::milliseconds> left;  // time left until `ends_at`, while the deadline is paused
    base::EventLoop::TimerId grace = 0;
    base::EventLoop::TimerId budget_end = 0;
  };

  bool fits(State& state, std::size_t bytes);
  static bool may_wait(const State& state, agents::Waits& waits);
  static bool may_end(const State& state);
  bool is_urgent(const State& state) const;
  std::string vet_schema(task::Message& question) const;
  static bool may_log_children(const State& state);
  void add_childless(State& state, task::Subagent none);
  void pass_on(agents::DelegateResult result);
  void force(agents::Outcome outcome);
  agents::Outcome failure_of_engine(std::string error) const;
  // The turn's budget and deadline.
  void arm_budget_end();
  static bool asks_anew(const State& state, const agents::DelegateRequest& request, int nth);
  std::string admit(State& state, const agents::DelegateRequest& request, int nth) const;
  void count(State& state, const task::EventBody& body) const;
  void count_end(State& state, const task::Subagent& child) const;
  std::string excess_of(const State& state) const;
  bool is_used_up(const State& state) const;
  void arm_deadline(std::chrono::milliseconds time);
  void update_deadline();
  bool question_turns_over() const;
  void flush();
  base::Result<task::Change> decide(const store::TaskRow& now);
  void committed(const store::Committed& committed);
  void refused(const base::Error& error);
  void cancel_unneeded();
  void store_again(std::chrono::milliseconds delay);
  void end();

  const Services& services_;
  const base::SteadyTime::time_point begun_ = base::SteadyTime::now();
  const agents::AgentSettings::ReplyAs reply_as_;
  const int children_max_;
  const std::chrono::milliseconds time_max_;
  const std::shared_ptr<const task::Budget> budget_;  // of the task; null if it has none
  const std::int64_t tokens_before_;                  // used by the task before this turn
  const bool answers_whole_;                          // the answer counts even if it exceeds the token budget
  const std::chrono::milliseconds cancel_grace_;
  const bool is_elsewhere_;  // its agent runs on another server
  const bool is_model_;
  const bool is_plan_;     // never waits while it runs, so it keeps its slot
  const bool undoes_;      // it runs a plan that may undo its steps when canceled
  const bool tells_next_;  // the next turn learns of a cancel if this one waits
  base::Guarded<State> state_;
};

}  // namespace baton::engine
