#include "engine/cancels.h"

#include <utility>

#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

// A lost race means deciding again. Losing this often has another cause.
constexpr int kCancelTriesMax = 32;

}  // namespace

void Cancels::cancel(const task::TaskRef& ref, Done done) {
  const auto head = store_.head(ref);
  if (!head) return done(fail(head.error()));
  cancel_head(*head, {}, 0, std::move(done));
}

void Cancels::cancel(task::TaskKey key, Done done, const std::string& reason) {
  const auto head = store_.head(key);
  if (!head) return done(fail(head.error()));
  cancel_head(*head, reason, 0, std::move(done));
}

void Cancels::cancel_head(const task::TaskHead& head, const std::string& reason, int tries, Done done) {
  if (task::is_terminal(head.state)) return done(fail(ErrorCode::not_cancelable, "the task has ended"));
  const bool running = head.turn_state == task::TurnState::running;
  if (running && head.cancel_requested) return await_cancel(head.key, head.last_event, std::move(done));
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->cancel_requested = true;
  if (!running) {
    change.turn->state = task::TurnState::none;
    change.turn->waiting_messages = 0;
    change.events.push_back(status_with_text(task::State::canceled, reason, clock_.now()));
  }
  ledger_.commit(std::move(change), [this, head, reason, tries,
                                     done = std::move(done)](base::Result<Ledger::Written> result) mutable {
    if (result) return stored(head, reason, std::move(*result), std::move(done));
    if (result.error().code != ErrorCode::conflict || tries >= kCancelTriesMax) {
      return done(fail(std::move(result.error())));
    }
    background_.run([this, key = head.key, reason, tries, done = std::move(done)]() mutable {
      const auto again = store_.head(key);
      if (!again) return done(fail(again.error()));
      cancel_head(*again, reason, tries + 1, std::move(done));
    });
  });
}

void Cancels::stored(const task::TaskHead& before, const std::string& reason, Ledger::Written written,
                     Done done) {
  if (task::is_terminal(written.head.state)) {
    if (before.turn_state == task::TurnState::queued) {
      turns_.scheduler().remove(before.key, before.agent, std::string(task::account_of(before.caller)));
    }
    cancel_children(before.key);
    return done(before.key);
  }
  // Now, not when its turn has ended: a tree of tasks could outgrow a cancel that goes down level by level.
  cancel_children(before.key);
  // In the commit callback, so that no stop is missed.
  await_cancel(before.key, written.head.last_event, std::move(done));
  if (turns_.cancel(before.key, reason)) return;
  // No turn of the task runs here, whatever its head says: nobody else will end it.
  task::Change end;
  end.task = before.key;
  end.expected = written.head.version;
  end.events.push_back(status_with_text(task::State::canceled, reason, clock_.now()));
  end.turn.emplace();
  end.turn->state = task::TurnState::none;
  ledger_.commit(std::move(end), [](const base::Result<Ledger::Written>&) {});
}

void Cancels::await_cancel(task::TaskKey key, task::EventNumber after, Done done) {
  const auto waiting =
      waits_.begin(key, after, options_.reply_wait, [key, done = std::move(done)](std::optional<Stop> stop) {
        if (stop && stop->state == task::State::canceled) return done(key);
        if (stop) return done(fail(ErrorCode::not_cancelable, "the task ended before it could be canceled"));
        done(fail(ErrorCode::unavailable, "the task has not ended yet; it will be canceled"));
      });
  // The task may have stopped before the wait began.
  background_.run([this, key, waiting] {
    const auto head = store_.head(key);
    if (head && task::is_terminal(head->state)) waits_.end(waiting, Stop{head->state, head->last_event});
  });
}

void Cancels::cancel_children(task::TaskKey parent) {
  background_.run([this, parent] {
    const auto children = store_.open_children(parent);
    if (!children) return;
    for (const task::TaskHead& child : *children) {
      cancel_head(child, {}, 0, [](const base::Result<task::TaskKey>&) {});
    }
  });
}

}  // namespace baton::engine
