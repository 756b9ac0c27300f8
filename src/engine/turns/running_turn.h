// RunningTurn: a turn that has begun. Stores the executor's output in order, and turns its outcome into the
// task's next state.
//
// Guarantees, whatever races:
// - Output is stored in the order it came. At most one change of a turn waits for the engine's thread; output
//   that comes meanwhile goes into it, with consecutive text joined.
// - Nothing is stored after the turn ended, here or elsewhere: every change carries the attempt as its fence.
// - The turn ends once. A cancel requested before the executor finishes ends the task as canceled, unless the
//   executor completes its work all the same, or goes on to undo it (undoes_first in turn_ending.h).
// - Messages that arrive meanwhile are not lost: instead of completing, the task goes on with the next one.
// - A cancel of a turn whose plan has something to undo ends it without ending the task: the next one undoes.
// - A turn that ends by waiting ends when each child that it asked for is in the log, or why there is none.
// - While the task shows a child's question, the turn goes on: its output is stored, but for notes about its
//   progress, as the task's status is the question. Its deadline does not run.
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

#include "agents/executor.h"
#include "agents/settings.h"
#include "agents/tool_spans.h"
#include "base/clock.h"
#include "base/guarded.h"
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
  // What a turn uses. All outlive every turn.
  struct Services {
    Inbox& inbox;
    Background& background;
    const base::Clock& clock;
    const EngineOptions& options;
    ChildQuestions& questions;
    TurnRunner& runner;  // keeps the turns
  };

  RunningTurn(const Services& services, task::TaskHead head, const agents::AgentSettings& settings);

  // The executor is about to start. From now on output is accepted, but held back until `attach`.
  void started();
  // Whether the executor may start: the turn was not stopped before.
  bool may_start();
  // The executor has started; null: it may not, or could not.
  void attach(std::unique_ptr<agents::Execution> running);

  // The executor is told at its start that the task is canceled: a plan undoes what it has done.
  void tell_of_cancel();
  // Tells the executor to stop, and ends the turn after the grace. Call once the cancel request is stored.
  // `reason`: the text of the canceled status; empty: none.
  void cancel(std::string reason = {});
  // Breaks the turn off, after an operator's wish is stored: it runs again as another attempt.
  void break_off() { force(agents::BrokenOff{true}); }
  // Ends the turn without storing anything: the program is stopping, and a restart resumes from the log.
  void abandon();
  // Whether its end is decided. On the engine's thread.
  bool is_ending() const;
  // What the log says of this turn, if it runs again or goes on. Before the executor starts.
  void go_on(TurnLog log);
  // What children get of where the turn's request came from: its hops, and the turn's trace. Set before the
  // executor starts.
  struct Lineage {
    std::vector<std::string> hops;
    std::string trace;
    std::string parent = {};                    // the trace that the turn's message came with
    std::vector<task::TaskId> references = {};  // other tasks that its message named
    std::string first = {};  // that of the task's first message, if it is another one and known
  };
  void inherit(Lineage lineage);
  Lineage lineage() const;
  // Whether the request is one for a child that is not there yet, as far as the log says. `nth`: as in
  // ChildWanted.
  bool asks_anew(const agents::DelegateRequest& request, int nth) const;
  // The budget of a child that it was allowed to have: the request's own, or what is left of the task's;
  // null: it has none.
  std::shared_ptr<const task::Budget> budget_of(const agents::DelegateRequest& request) const;
  // A child that the turn asked for is stored. Logs its subagent, unless the log has it from earlier.
  enum class Begun { logged, known, too_late };
  Begun begun(const task::Subagent& child);
  // There is no child, and the turn gets this error. `is_counted`: the request was one for a new child, and
  // was admitted.
  void no_child(const std::string& agent, const std::string& id, const std::string& error,
                bool is_counted = true);
  // Logs what has become of a child. False: the turn cannot any more, but its task may still wait for this.
  bool settle(const task::Subagent& child);
  void deliver(agents::DelegateResult result);
  // Children have asked or no longer ask; `now`: the task as somebody else has changed it, if so.
  void questions_changed(const task::TaskHead* now = nullptr);

  task::TaskHead head() const;
  bool is_plan() const { return is_short_; }
  bool is_over() const;
  // Whether it was given up: another one goes on with it, on this node or elsewhere.
  bool is_abandoned() const {
    return state_.with([](const State& state) { return state.abandoned; });
  }
  // How long ago it began.
  base::SteadyTime::duration age() const { return base::SteadyTime::now() - begun_; }
  // Why the turn failed or was rejected; empty if it was not, or not yet.
  std::string failure() const;
  // Whether the task may have children: this turn delegated, or it is not the task's first turn or attempt.
  bool may_have_children() const;
  // The id of the open subagent in the task's log that is this child; empty if there is none.
  std::string open_subagent(task::TaskKey child) const;

  void emit(task::EventBody body) override;
  void text(std::string delta) override;
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
    task::Taken taken;  // as the head will say once everything is stored, with the children asked for
    PendingOutput output;
    bool held = false;    // between `hold` and `release`, or before `attach`
    bool posted = false;  // a decision about the output waits
    bool ending = false;  // that decision ended the turn
    bool lost = false;    // the turn is no longer the running one
    bool abandoned = false;
    bool dropped = false;  // some output could not be stored
    std::optional<agents::Outcome> outcome;
    bool is_starting = false;  // between `may_start` and `attach`
    bool is_stopping = false;  // the outcome was forced, and the agent is not told yet
    bool cancel_requested = false;
    bool is_undoing = false;  // its executor knows of the cancel
    std::string cancel_reason;
    std::function<void()> when_ready;
    std::vector<task::TaskKey> unneeded;  // children to cancel once the output before that is stored
    int children = 0;                     // asked for, without a result
    int asked_for = 0;                    // of these, not yet in the log
    bool knows_log = false;               // it has been told what the log says of earlier turns
    int awaited_at_begin = 0;             // children of earlier turns that have not stopped
    std::vector<task::Subagent> early;    // what has become of those before it was told of them
    bool delegated = false;
    Lineage lineage;
    agents::ToolSpans tools;                           // of the agent's own; used only if there are spans
    std::unordered_map<std::string, int> calls;        // how often each name was used to delegate
    std::unordered_map<std::string, int> known_calls;  // of these, by earlier attempts that got a child
    std::vector<task::Subagent> earlier;               // children that the log had when the turn began
    std::vector<task::Subagent> childless;             // requests without a child
    bool slot_released = false;                        // while it waits for children
    std::vector<agents::DelegateResult> undelivered;   // came before the executor was attached
    std::shared_ptr<agents::Execution> running;        // also held by calls into it
    base::EventLoop::TimerId deadline = 0;
    base::SteadyTime::time_point ends_at{};         // when the deadline is
    std::optional<std::chrono::milliseconds> left;  // until then, while a child's question is shown
    base::EventLoop::TimerId grace = 0;
    base::EventLoop::TimerId budget_end = 0;
  };

  bool fits(State& state, std::size_t bytes);
  static bool may_wait(const State& state, agents::Waits& waits);
  static bool may_end(const State& state);
  std::string heed_schema(task::Message& question) const;
  static bool may_log_children(const State& state);
  void tell(agents::DelegateResult result);
  void force(agents::Outcome outcome);
  agents::Outcome failure_of_engine(std::string error) const;
  // Its budget, in running_turn_limits.cpp.
  void arm_budget_end();
  static bool asks_anew(const State& state, const agents::DelegateRequest& request, int nth);
  std::string admit(State& state, const agents::DelegateRequest& request, int nth) const;
  void count(State& state, const task::EventBody& body) const;
  void count_end(State& state, const task::Subagent& child) const;
  std::string excess_of(const State& state) const;
  bool is_used_up(const State& state) const;
  void arm_deadline(std::chrono::milliseconds time);
  void heed_deadline();
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
  const std::shared_ptr<const task::Budget> budget_;  // of the task; null: none
  const std::int64_t tokens_before_;                  // that the task had used when the turn began
  const bool answers_whole_;                          // a model's last answer counts, though it used too much
  const std::chrono::milliseconds cancel_grace_;
  const bool is_elsewhere_;  // its agent is a server of somebody else
  const bool is_short_;      // never waits while it runs, so it keeps its slot
  const bool undoes_;        // it is a plan's that undoes what it has done if it is canceled
  base::Guarded<State> state_;
};

}  // namespace baton::engine
