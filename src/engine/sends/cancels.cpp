#include "engine/sends/cancels.h"

#include <spdlog/spdlog.h>

#include <limits>
#include <utility>

#include "engine/decide/kinds/end_lost_turn.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kAll = std::numeric_limits<int>::max();

// The text that the task's caller reads. The operator's reason is only for operators.
constexpr char kCanceledByOperator[] = "The task was canceled by an operator.";

}  // namespace

// A pending request, shared by the callbacks of its decision.
struct Cancels::Canceling : CancelRequest {
  Done done;
  Heard heard;  // may be empty
};

Cancels::CancelingPtr Cancels::request(task::TaskKey task, std::string reason, Done done) const {
  CancelRequest request{task, std::move(reason), nullptr, turns_.self(), catalogue_, clock_};
  return std::make_shared<Canceling>(Canceling{std::move(request), std::move(done), nullptr});
}

void Cancels::cancel(const task::TaskRef& ref, Done done) {
  const auto head = reader_.head(ref);
  if (!head) return done(fail(head.error()));
  cancel(head->key, std::move(done));
}

void Cancels::cancel(task::TaskKey key, Done done, const std::string& reason) {
  post(request(key, reason, std::move(done)));
}

void Cancels::cancel(task::TaskKey key, std::shared_ptr<const task::AuditEntry> audit, Heard heard) {
  const auto canceling = request(key, kCanceledByOperator, [](const base::Result<task::TaskKey>&) {});
  canceling->audit = std::move(audit);
  canceling->heard = std::move(heard);
  post(canceling);
}

void Cancels::begin(const task::TaskRef& ref, Heard heard) {
  const auto head = reader_.head(ref);
  if (!head) return heard(fail(head.error()));
  const auto canceling = request(head->key, {}, [](const base::Result<task::TaskKey>&) {});
  canceling->heard = std::move(heard);
  post(canceling);
}

void Cancels::post(const CancelingPtr& request) {
  Decision decision(request);
  decision.committed = [this, request](const store::Committed& committed) {
    if (request->wakes)
      return request->is_elsewhere ? turns_.take_over(committed.head) : turns_.schedule(committed.head);
    if (request->had_turn && !request->undoes) turns_.withdraw(committed.head);
  };
  decision.done = [this, request](base::Result<Written> written) {
    if (request->heard)
      request->heard(written ? base::Result<task::TaskHead>(written->head) : fail(written.error()));
    if (written) return stored(request, written->head);
    if (request->is_known) return await_cancel(request, request->since);
    request->done(fail(std::move(written.error())));
  };
  inbox_.post(std::move(decision));
}

void Cancels::stored(const CancelingPtr& request, const task::TaskHead& head) {
  // Children are canceled now, not when the turn has ended: a tree of tasks could otherwise outgrow a cancel
  // that descends level by level. A plan that undoes cancels its children itself; only children that ask are
  // canceled here, because the others may be undoing steps.
  if (request->undoes) {
    for (const task::TaskKey child : turns_.questions().asking(request->task)) cancel_child(child);
  } else {
    cancel_children(request->task);
  }
  if (task::is_terminal(head.state)) {
    turns_.subjects().erase(head);
    if (!request->ask.empty()) turns_.withdraw_question(head.agent, request->ask);
    return request->done(request->task);
  }
  await_cancel(request, head.last_event);
  if (head.turn_state != task::TurnState::running) return;
  if (!turns_.cancel(request->task, request->reason)) end_lost_turn(*request, head);
}

// The task's head says that a turn runs, but none runs here, so this node ends the task. A turn that has
// ended meanwhile left the task to its next turn, which knows of the cancel.
void Cancels::end_lost_turn(const CancelRequest& request, const task::TaskHead& lost) {
  Decision decision(
      EndLostTurn{request.task, lost.turn, lost.attempt, request.reason, turns_.self(), clock_});
  decision.done = [](const base::Result<Written>&) {};
  inbox_.post(std::move(decision));
}

void Cancels::await_cancel(const CancelingPtr& request, task::EventNumber after) {
  reader_.await_stop(request->task, after, options_.reply_wait, [request](std::optional<Stop> stop) {
    if (stop && stop->state == task::State::canceled) return request->done(request->task);
    if (stop) {
      return request->done(fail(ErrorCode::not_cancelable, "the task ended before it could be canceled"));
    }
    request->done(fail(ErrorCode::unavailable, "the task has not ended yet; it will be canceled soon"));
  });
}

void Cancels::cancel_child(task::TaskKey child, const std::string& reason) {
  auto done = [this, child, reason](const base::Result<task::TaskKey>& canceled) {
    const bool is_over = canceled || canceled.error().code == ErrorCode::not_cancelable ||
                         canceled.error().code == ErrorCode::task_not_found;
    if (is_over) return;
    background_.again([this, child, reason] { cancel_child(child, reason); });
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
    spdlog::warn("cannot read the child tasks of ended tasks; retrying: {}", children.error().for_log);
    background_.again(
        [this, which, parent] { background_.run([this, which, parent] { cancel_all(which, parent); }); });
    return;
  }
  for (const task::TaskHead& child : *children) cancel_child(child.key);
}

}  // namespace baton::engine
