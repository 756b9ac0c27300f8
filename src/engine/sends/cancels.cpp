#include "engine/sends/cancels.h"

#include <spdlog/spdlog.h>

#include <limits>
#include <utility>

#include "engine/decide/rules/interventions.h"
#include "engine/decide/rules/turn_ending.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kAll = std::numeric_limits<int>::max();

// What the task's caller reads; the reason is the operators'.
constexpr char kCanceledByOperator[] = "The task was canceled by an operator.";

}  // namespace

// A cancel on its way, shared by the callbacks of its decision.
struct Cancels::Wish {
  task::TaskKey task;
  std::string reason;
  Done done;
  std::shared_ptr<const task::AuditEntry> audit;  // an operator's
  Heard heard;                                    // likewise
  bool is_known = false;                          // the running turn has been told already
  task::EventNumber since;                        // when that was decided
  bool had_turn = false;                          // that had not begun
  bool undoes = false;                            // before it ends
  bool wakes = false;                             // it waited, and goes on to undo
  bool is_elsewhere = false;                      // another node had its turn
  std::string ask;                                // the question that the task waited with
};

void Cancels::cancel(const task::TaskRef& ref, Done done) {
  const auto head = reader_.head(ref);
  if (!head) return done(fail(head.error()));
  cancel(head->key, std::move(done));
}

void Cancels::cancel(task::TaskKey key, Done done, const std::string& reason) {
  const auto wish = std::make_shared<Wish>();
  wish->task = key;
  wish->reason = reason;
  wish->done = std::move(done);
  post(wish);
}

void Cancels::cancel(task::TaskKey key, std::shared_ptr<const task::AuditEntry> audit, Heard heard) {
  const auto wish = std::make_shared<Wish>();
  wish->task = key;
  wish->reason = kCanceledByOperator;
  wish->done = [](const base::Result<task::TaskKey>&) {};
  wish->audit = std::move(audit);
  wish->heard = std::move(heard);
  post(wish);
}

void Cancels::post(const WishPtr& wish) {
  Decision decision;
  decision.task = wish->task;
  decision.decide = [this, wish](const store::TaskRow& now) { return decide(*wish, now); };
  decision.committed = [this, wish](const store::Committed& committed) {
    if (wish->wakes)
      return wish->is_elsewhere ? turns_.take_over(committed.head) : turns_.go_on(committed.head);
    if (wish->had_turn && !wish->undoes) turns_.withdraw(committed.head);
  };
  decision.done = [this, wish](base::Result<Written> written) {
    if (wish->heard)
      wish->heard(written ? base::Result<task::TaskHead>(written->head) : fail(written.error()));
    if (written) return stored(wish, written->head);
    if (wish->is_known) return await_cancel(wish, wish->since);
    wish->done(fail(std::move(written.error())));
  };
  inbox_.post(std::move(decision));
}

// A running turn is told later, once the wish is durable; any other task ends at once, or undoes.
base::Result<task::Change> Cancels::decide(Wish& wish, const store::TaskRow& now) const {
  const task::TaskHead& head = now.head;
  if (task::is_terminal(head.state)) return fail(ErrorCode::not_cancelable, "the task has ended");
  const bool running = head.turn_state == task::TurnState::running;
  // Its card says whether it undoes first, and its children may, too.
  const bool may_undo = running ? head.children > 0 : head.turn.value > 1 || head.attempt > 0;
  if (may_undo && turns_.is_elsewhere(head.agent))
    return fail(ErrorCode::unavailable, "another node serves the task's agent, try again");
  wish.undoes = turns_.undoes_first(head);
  wish.is_known = head.cancel_requested && (running || wish.undoes);
  wish.since = head.last_event;
  if (wish.is_known) return fail(ErrorCode::conflict, "the task is being canceled");
  wish.ask = head.ask;
  wish.is_elsewhere = !turns_.is_ours(now);
  wish.had_turn = head.turn_state != task::TurnState::none && !running;
  task::Change change;
  if (wish.audit) note_intervention(change, *wish.audit);
  if (wish.undoes && !running) {
    wish.wakes = head.turn_state == task::TurnState::waiting;
    begin_undoing(change, head, clock_.now());
    return change;
  }
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->cancel_requested = true;
  if (running) return change;
  change.turn->state = task::TurnState::none;
  change.turn->waiting_messages = 0;
  change.events.push_back(status_with_text(task::State::canceled, wish.reason, clock_.now()));
  return change;
}

void Cancels::stored(const WishPtr& wish, const task::TaskHead& head) {
  // Now, not when its turn has ended: a tree of tasks could outgrow a cancel that goes down level by level. A
  // plan that undoes cancels its children itself, and not those that undo, unless they ask.
  if (wish->undoes) {
    for (const task::TaskKey child : turns_.questions().asking(wish->task)) cancel_child(child);
  } else {
    cancel_children(wish->task);
  }
  if (task::is_terminal(head.state)) {
    if (!wish->ask.empty()) turns_.withdraw_question(head.agent, wish->ask);
    return wish->done(wish->task);
  }
  await_cancel(wish, head.last_event);
  if (head.turn_state != task::TurnState::running) return;
  if (!turns_.cancel(wish->task, wish->reason)) end_lost_turn(wish, head);
}

// No turn of the task runs here, whatever its head says: nobody else will end it. A turn that has ended
// meanwhile left the task to its next turn, which knows of the cancel.
void Cancels::end_lost_turn(const WishPtr& wish, const task::TaskHead& lost) {
  Decision decision;
  decision.task = wish->task;
  decision.decide = [this, wish, turn = lost.turn,
                     attempt = lost.attempt](const store::TaskRow& now) -> base::Result<task::Change> {
    const bool is_lost = turns_.is_ours(now) && now.head.turn_state == task::TurnState::running &&
                         now.head.turn == turn && now.head.attempt == attempt;
    if (!is_lost) return fail(ErrorCode::conflict, "the turn has ended, or another node ends it");
    task::Change end;
    end.task = now.head.key;
    end.expected = now.head.version;
    end.events.push_back(status_with_text(task::State::canceled, wish->reason, clock_.now()));
    end.turn.emplace();
    end.turn->state = task::TurnState::none;
    return end;
  };
  decision.done = [](const base::Result<Written>&) {};
  inbox_.post(std::move(decision));
}

void Cancels::await_cancel(const WishPtr& wish, task::EventNumber after) {
  reader_.await_stop(wish->task, after, options_.reply_wait, [wish](std::optional<Stop> stop) {
    if (stop && stop->state == task::State::canceled) return wish->done(wish->task);
    if (stop) {
      return wish->done(fail(ErrorCode::not_cancelable, "the task ended before it could be canceled"));
    }
    wish->done(fail(ErrorCode::unavailable, "the task has not ended yet; it will be canceled"));
  });
}

void Cancels::cancel_child(task::TaskKey child, const std::string& reason) {
  auto done = [this, child, reason](const base::Result<task::TaskKey>& canceled) {
    const bool is_over = canceled || canceled.error().code == ErrorCode::not_cancelable ||
                         canceled.error().code == ErrorCode::task_not_found;
    if (is_over) return;
    background_.timers().after(options_.disk_retry, [this, child, reason] { cancel_child(child, reason); });
  };
  cancel(child, std::move(done), reason);
}

void Cancels::cancel_children(task::TaskKey parent) {
  background_.run([this, parent] { cancel_all(store::TaskStore::Open::children, parent); });
}

void Cancels::cancel_orphans() {
  background_.run([this] { cancel_all(store::TaskStore::Open::orphans, {}); });
}

void Cancels::cancel_all(store::TaskStore::Open which, task::TaskKey parent) {
  const auto children = store_.open_tasks(which, parent, kAll);
  if (!children) {
    spdlog::warn("the children of tasks that have ended cannot be read, trying again: {}",
                 children.error().for_log);
    background_.timers().after(options_.disk_retry, [this, which, parent] {
      background_.run([this, which, parent] { cancel_all(which, parent); });
    });
    return;
  }
  for (const task::TaskHead& child : *children) cancel_child(child.key);
}

}  // namespace baton::engine
