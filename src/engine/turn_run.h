// TurnRun: one turn while it runs. It takes what the executor produces, stores it in order, and turns the
// executor's outcome into the task's next state.
//
// What it promises, whatever races:
// - Output is stored in the order it came; at most one change of a turn is under way, and what comes
//   meanwhile goes into the next one (consecutive text pieces as one event).
// - Nothing is stored after the turn ended, here or elsewhere: every change carries the turn as its fence.
// - The turn ends once. A cancel that was asked for before the executor finished ends the task as canceled,
//   unless the executor had completed its work by then.
// - Messages that arrived meanwhile are not lost: instead of completing, the task goes on with the next one.
//
// Threads: any. The lock is held neither over a commit nor over a call to the executor.
// Shared by: the registry of running turns, the executor, and a commit or timer that is under way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "engine/background.h"
#include "engine/ledger.h"
#include "engine/options.h"
#include "engine/pending_output.h"

namespace baton::engine {

class TurnRun final : public agents::TurnSink, public std::enable_shared_from_this<TurnRun> {
 public:
  // What a turn needs from around it. All outlive every turn.
  struct Services {
    Ledger& ledger;
    store::TaskStore& store;
    Background& background;
    const base::Clock& clock;
    const EngineOptions& options;
    // The turn is over and its executor let go; `slot_held` says whether its slot must be given back.
    std::function<void(const std::shared_ptr<TurnRun>&, bool slot_held)> ended;
    std::function<void(std::shared_ptr<TurnRun>, agents::DelegateRequest)> delegate;
    // The turn would give up its slot while it waits for children. False: too many do, it may not wait.
    std::function<bool(const task::AgentName&)> pause;
    // It goes on.
    std::function<void(const task::AgentName&)> resume;
  };

  TurnRun(const Services& services, task::TaskHead head, const agents::AgentSettings& settings);

  // The turn's beginning is stored; `after` is the task after it, unless the turn was made with that. Output
  // is taken from here on, and held until `attach`.
  void started(std::optional<task::TaskHead> after = {});
  // The executor is at work.
  void attach(std::unique_ptr<agents::RunningTurn> running);

  // The wish to cancel is stored: the executor is told, and after the grace the turn is ended. The task's
  // status then tells the reason, unless that is empty.
  void cancel(std::string reason = {});
  // Ends the turn without a word to the store: the program is stopping, a restart goes on from the log.
  void abandon();
  void deliver(agents::DelegateResult result);

  task::TaskHead head() const;
  bool is_over() const;
  // Why the turn ended in failure or refusal; empty: it did not, or not yet.
  std::string failure() const;
  // Whether its task may have child tasks: this turn delegated, or it is not the task's first.
  bool may_have_children() const;
  // Whether its log has a subagent of this id that has begun and has not ended.
  bool has_subagent(const std::string& id) const;

  void emit(task::EventBody body) override;
  void text(std::string delta) override;
  void reasoning(std::string delta) override;
  void hold() override;
  void release() override;
  bool ready(std::function<void()> when_ready) override;
  void delegate(agents::DelegateRequest request) override;
  void finish(agents::Outcome outcome) override;

 private:
  enum class Phase { starting, running, over };
  struct State {
    State(task::TaskHead now, const EngineOptions& options, agents::AgentSettings::ReplyAs reply_as)
        : head(std::move(now)),
          output(head.id.value, head.turn.value, options.artifact_bytes_max, reply_as) {}

    Phase phase = Phase::starting;
    task::TaskHead head;
    PendingOutput output;
    bool held = false;  // more of the same is about to come
    bool in_flight = false;
    bool ending = false;   // the change under way ends the turn
    bool dropped = false;  // there was output that could not be stored
    std::optional<agents::Outcome> outcome;
    bool cancel_requested = false;
    std::string cancel_reason;
    std::optional<task::EventNumber> next_message;  // of the messages that waited for this turn's end
    std::function<void()> when_ready;
    int children = 0;
    bool delegated = false;
    bool slot_released = false;                       // while it waits for them
    std::vector<agents::DelegateResult> undelivered;  // that came before the executor was attached
    std::shared_ptr<agents::RunningTurn> running;     // also held by a call into it that is under way
    base::EventLoop::TimerId deadline = 0;
    base::EventLoop::TimerId grace = 0;
  };

  bool fits(State& state, std::size_t bytes);
  void tell(agents::DelegateResult result);
  void force(agents::Outcome outcome);
  void flush();
  std::optional<task::Change> next_change(State& state, bool& look_for_message);
  void look_for_message();
  task::Change ending_change(State& state);
  void written(base::Result<Ledger::Written> result);
  void refused(const base::Error& error);
  void decide_again();
  void store_again(std::chrono::milliseconds delay);
  void end();

  const Services& services_;
  const agents::AgentSettings::ReplyAs reply_as_;
  const std::chrono::milliseconds time_max_;
  const std::chrono::milliseconds cancel_grace_;
  base::Guarded<State> state_;
};

}  // namespace baton::engine
