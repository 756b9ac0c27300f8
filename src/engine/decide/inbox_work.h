// The works of the inbox: decisions, other writes, removals, and probes. Private to inbox.cpp.
//
// Threads: the engine's thread until the group is handed over, then the flushing thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "engine/decide/inbox.h"

namespace baton::engine {

// Waits until `count` is at least `least`.
inline void wait_for(const std::atomic<std::uint64_t>& count, std::uint64_t least) {
  for (std::uint64_t now = count; now < least; now = count) base::wait_for_change(count, now);
}

// Records how long each of several consecutive callbacks takes. Call `next` after each.
class BusyLaps {
 public:
  explicit BusyLaps(base::BusyTime& busy) : busy_(busy) {}

  void next() {
    const auto now = base::SteadyTime::now();
    busy_.note(begin_.time_since_epoch(), now.time_since_epoch());
    begin_ = now;
  }

 private:
  base::BusyTime& busy_;
  base::SteadyTime::time_point begin_ = base::SteadyTime::now();
};

// Returns true for errors of the store that discard the open group.
inline bool ends_group(const base::Error& error) {
  using base::ErrorCode;
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::internal ||
         error.code == ErrorCode::raced;
}

// Something to write, from when it is posted until it is called back.
class Inbox::Work {
 public:
  virtual ~Work() = default;
  // The task whose row it needs, if any.
  virtual task::TaskKey task() const { return {}; }
  virtual bool is_awaited() const { return true; }
  // The task that it has changed, once it is committed; null: none.
  virtual const task::TaskHead* changed() const { return nullptr; }
  // The delivery whose result it is, if any.
  virtual store::DeliveryKey delivery() const { return {}; }
  // Adds it to the store's open group. Fails only with errors that discard the group.
  virtual base::Result<void> apply(Inbox& inbox) = 0;
  // The group was discarded: `apply` may be called again.
  virtual void undo(Inbox& inbox) = 0;
  virtual void refuse(base::Error error) = 0;
  virtual void committed() {}
  virtual void publish(Inbox&) {}
  virtual void call_back() = 0;

  std::size_t bytes = 0;
  int races = 0;             // races that its groups have lost
  bool may_wait = false;     // it may be delayed
  bool refused = false;      // it has its result, and nothing to write
  bool looks_again = false;  // `apply` has not decided: the row must be read anew
};

class Inbox::Decided final : public Work {
 public:
  // Marks the task as changing. A stream that opens while the change is queued sends its first events
  // together with the change.
  Decided(Decision decision, LiveTasks& live) : decision_(std::move(decision)), live_(live) {
    if (decision_.task) changing(decision_.task);
  }

  task::TaskKey task() const override { return decision_.task; }
  bool is_awaited() const override { return decision_.is_awaited || !result_; }
  const task::TaskHead* changed() const override { return result_ ? &result_->head : nullptr; }

  base::Result<void> apply(Inbox& inbox) override {
    store::TaskRow fresh;
    store::TaskRow* const kept = decision_.task ? inbox.rows_.find(decision_.task) : &fresh;
    if (kept == nullptr) {  // the open group has removed it
      result_ = base::fail(base::ErrorCode::task_not_found, "task not found");
      return {};
    }
    store::TaskRow& row = *kept;
    auto change = decision_.decide(row);
    if (!change) return refused(inbox, std::move(change.error()));
    if (auto admitted = admit(inbox, *change, row); !admitted) {
      result_ = base::fail(std::move(admitted.error()));
      return {};
    }
    if (change->create) metadata_ = change->create->metadata;
    const std::size_t size_before = row.head.bytes;
    // Mark the task before reads can see the change.
    if (decision_.task && !changing_) changing(decision_.task);
    result_ = inbox.store_.apply(*change, row);
    if (!result_) {
      if (ends_group(result_.error())) return base::fail(result_.error());
      return refused(inbox, std::move(result_.error()));
    }
    inbox.is_open_ = true;
    inbox.note_written(decision_.task);
    count(inbox, result_->head, static_cast<std::int64_t>(result_->head.bytes - size_before));
    request_ = std::move(change->request);
    if (decision_.task) return {};
    changing(row.head.key);
    inbox.rows_.put(row.head.key, std::move(fresh));
    return {};
  }

  void undo(Inbox& inbox) override {
    if (changing_) inbox.rows_.erase(changing_);
    if (counted_) inbox.usage_->add(*counted_, decision_.task ? 0 : -1, -bytes_);
    counted_.reset();
    still();
    result_ = store::Committed{};
    request_.reset();
  }

  void refuse(base::Error error) override { result_ = base::fail(std::move(error)); }

  void committed() override {
    if (result_ && decision_.committed) decision_.committed(*result_);
  }

  void publish(Inbox& inbox) override {
    if (!result_) return;
    inbox.announce(*result_);
    const bool created = !decision_.task;
    changing_ = {};
    live_.publish(*result_, std::move(request_), created ? &metadata_ : nullptr);
  }

  void call_back() override {
    still();  // the change was refused, so the mark is still set
    if (!result_) return decision_.done(base::fail(std::move(result_.error())));
    const auto events = static_cast<std::int64_t>(result_->events.size());
    decision_.done(Written{result_->head, {result_->head.last_event.value - events}});
  }

 private:
  // If another node may have changed the task, the work is decided again on the row as the store has it.
  base::Result<void> refused(const Inbox& inbox, base::Error error) {
    looks_again = !std::exchange(has_looked_, true) && inbox.may_be_stale(decision_.task);
    if (!looks_again) result_ = base::fail(std::move(error));
    return {};
  }

  // Refuses only callers' messages, so that a task that has begun can end and delegate.
  static base::Result<void> admit(const Inbox& inbox, const task::Change& change, const store::TaskRow& row) {
    if (inbox.usage_ == nullptr) return {};
    const bool is_below = change.create ? change.create->parent.value != 0 : row.head.parent.value != 0;
    const bool speaks = std::ranges::any_of(change.events, [](const task::EventBody& body) {
      const auto* added = std::get_if<task::MessageAdded>(&body);
      return added != nullptr && added->message.role == task::Role::user;
    });
    if (is_below || !speaks) return {};
    const task::Caller& caller = change.create ? change.create->caller : row.head.caller;
    return inbox.usage_->admit(caller, change.create.has_value());
  }
  void count(const Inbox& inbox, const task::TaskHead& head, std::int64_t more) {
    if (inbox.usage_ == nullptr) return;
    counted_ = head.caller;
    bytes_ = more;
    inbox.usage_->add(head.caller, decision_.task ? 0 : 1, more);
  }

  void changing(task::TaskKey task) { live_.changing(changing_ = task); }
  void still() {
    if (changing_) live_.unchanged(std::exchange(changing_, {}));
  }

  Decision decision_;
  LiveTasks& live_;
  task::TaskKey changing_;  // marked as changing in `live_`
  task::Json metadata_;
  std::optional<task::RequestData> request_;
  std::optional<task::Caller> counted_;  // the caller whose usage has grown
  std::int64_t bytes_ = 0;               // the bytes added to it
  base::Result<store::Committed> result_;
  bool has_looked_ = false;  // the row was read anew for it
};

// A delivery's result, or an operator's write.
class Inbox::Stored final : public Work {
 public:
  using Apply = std::function<base::Result<void>()>;
  using Done = std::function<void(base::Result<void>)>;
  Stored(Apply apply, Done done, store::DeliveryKey delivery = {})
      : apply_(std::move(apply)), done_(std::move(done)), delivery_(delivery) {}

  store::DeliveryKey delivery() const override { return delivery_; }

  base::Result<void> apply(Inbox& inbox) override {
    outcome_ = apply_();
    inbox.is_open_ |= outcome_.has_value();
    return !outcome_ && ends_group(outcome_.error()) ? outcome_ : base::Result<void>();
  }
  void undo(Inbox&) override { outcome_ = {}; }
  void refuse(base::Error error) override { outcome_ = base::fail(std::move(error)); }
  void call_back() override { done_(std::move(outcome_)); }

 private:
  const Apply apply_;
  const Done done_;
  const store::DeliveryKey delivery_;
  base::Result<void> outcome_;
};

// Probes the disk. Writes nothing of its own: a group without changes still touches the disk.
class Inbox::Probed final : public Work {
 public:
  explicit Probed(std::atomic<bool>& probing) : probing_(probing) {}
  base::Result<void> apply(Inbox& inbox) override {
    inbox.is_open_ = true;
    return {};
  }
  void undo(Inbox&) override {}
  void refuse(base::Error) override {}
  void call_back() override { probing_ = false; }

 private:
  std::atomic<bool>& probing_;
};

class Inbox::Removing final : public Work {
 public:
  Removing(store::RetentionStore& store, store::Removal removal, Also also, Gone done)
      : store_(store), removal_(std::move(removal)), also_(std::move(also)), done_(std::move(done)) {}

  base::Result<void> apply(Inbox& inbox) override {
    const auto begun = base::SteadyTime::now();
    store::Removal removal = removal_;
    // Skip tasks whose rows are being read, because such a row would outlive its task.
    std::erase_if(removal.tasks,
                  [&](const store::Removal::One& one) { return inbox.loading_.contains(one.task); });
    result_ = store_.remove(removal);
    const auto also = result_ && also_ ? also_(std::ssize(*result_)) : base::Result<void>();
    if (!also) result_ = base::fail(also.error());
    inbox.is_open_ |= result_.has_value();
    if (!result_) return ends_group(result_.error()) ? base::fail(result_.error()) : base::Result<void>();
    for (const store::Removed& removed : *result_) {
      inbox.rows_.erase(removed.task);
      inbox.gone_.insert(removed.task);
    }
    took_ = base::SteadyTime::now() - begun;
    return {};
  }
  void undo(Inbox&) override { result_ = {}; }
  void refuse(base::Error error) override { result_ = base::fail(std::move(error)); }
  void publish(Inbox& inbox) override {
    if (!result_) return;
    for (const store::Removed& removed : *result_) {
      inbox.live_.forget(removed.task);
      if (inbox.usage_ == nullptr) continue;
      inbox.usage_->add(removed.caller, -1, -static_cast<std::int64_t>(removed.bytes));
    }
  }
  void call_back() override { done_(std::move(result_), took_); }

 private:
  store::RetentionStore& store_;
  const store::Removal removal_;
  const Also also_;
  const Gone done_;
  base::Result<std::vector<store::Removed>> result_;
  std::chrono::nanoseconds took_{};
};

class Inbox::Tidying final : public Work {
 public:
  Tidying(store::RetentionStore& store, std::int64_t spare_pages, Tidied done)
      : store_(store), spare_pages_(spare_pages), done_(std::move(done)) {}

  base::Result<void> apply(Inbox& inbox) override {
    const auto begun = base::SteadyTime::now();
    result_ = store_.tidy(spare_pages_);
    took_ = base::SteadyTime::now() - begun;
    inbox.is_open_ |= result_.has_value();
    return !result_ && ends_group(result_.error()) ? base::fail(result_.error()) : base::Result<void>();
  }
  void undo(Inbox&) override { result_ = false; }
  void refuse(base::Error error) override { result_ = base::fail(std::move(error)); }
  void call_back() override { done_(result_, took_); }

 private:
  store::RetentionStore& store_;
  const std::int64_t spare_pages_;
  const Tidied done_;
  base::Result<bool> result_ = false;
  std::chrono::nanoseconds took_{};
};

}  // namespace baton::engine
