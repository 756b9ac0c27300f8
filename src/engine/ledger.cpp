#include "engine/ledger.h"

namespace baton::engine {

Ledger::Ledger(store::TaskStore& store, Feed& feed, std::function<void()> deliveries_written)
    : store_(store), feed_(feed), deliveries_written_(std::move(deliveries_written)) {}

template <class Answer>
auto Ledger::counted(Answer done) {
  ++under_way_;
  return [this, done = std::move(done)](auto result) {
    note_outcome(result);
    done(std::move(result));
    one_less();
  };
}

// Errors other than `unavailable` say nothing about the disk.
template <class Answer>
void Ledger::note_outcome(const Answer& result) {
  const bool worked = result.has_value();
  if (!worked && result.error().code != base::ErrorCode::unavailable) return;
  if (writable_.load(std::memory_order_relaxed) != worked) writable_ = worked;
}

bool Ledger::store_is_writable() {
  if (writable_) return true;
  if (!probing_.exchange(true)) {
    store_.probe(counted([this](const base::Result<void>&) { probing_ = false; }));
  }
  return false;
}

void Ledger::one_less() {
  --under_way_;
  under_way_.notify_all();
}

void Ledger::commit(task::Change change, Done done, Early early) {
  auto answer = [this, done = std::move(done)](base::Result<store::Committed> result) {
    if (result) {
      done(published(std::move(*result)));
    } else {
      done(base::fail(std::move(result.error())));
    }
  };
  store_.commit(std::move(change), counted(std::move(answer)), std::move(early));
}

void Ledger::set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                      std::function<void(base::Result<task::PushConfig>)> done) {
  store_.set_push(key, std::move(config), configs_max, counted(std::move(done)));
}

void Ledger::delete_push(task::TaskKey key, task::PushConfigId id,
                         std::function<void(base::Result<void>)> done) {
  store_.delete_push(key, std::move(id), counted(std::move(done)));
}

bool Ledger::after_change(task::TaskKey key, std::function<void()> then) {
  ++under_way_;
  const bool is_under_way = store_.after_change(key, [this, then = std::move(then)] {
    then();
    one_less();
  });
  if (!is_under_way) one_less();
  return is_under_way;
}

void Ledger::settle() {
  for (std::int64_t left = under_way_; left > 0; left = under_way_) under_way_.wait(left);
}

base::Result<Ledger::Written> Ledger::published(store::Committed committed) {
  Written written;
  written.before.value = committed.head.last_event.value - static_cast<std::int64_t>(committed.events.size());
  for (const task::EventPtr& event : committed.events) {
    const task::StatusChanged* change = task::status_in(*event);
    if (change) ++counts_[static_cast<std::size_t>(change->status.state)];
  }
  feed_.publish(committed.head, committed.events);
  if (committed.deliveries > 0) deliveries_written_();
  written.head = std::move(committed.head);
  return written;
}

}  // namespace baton::engine
