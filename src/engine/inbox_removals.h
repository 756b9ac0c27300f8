// What waits in the inbox to take tasks out of the store. Private to inbox.cpp.
//
// Threads: as inbox_work.h.
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "engine/inbox_work.h"

namespace baton::engine {

class Inbox::Removing final : public Work {
 public:
  Removing(store::RetentionStore& store, store::Removal removal, Also also, Gone done)
      : store_(store), removal_(std::move(removal)), also_(std::move(also)), done_(std::move(done)) {}

  base::Result<void> apply(Inbox& inbox) override {
    const auto begun = base::SteadyTime::now();
    store::Removal removal = removal_;
    // A row that is being read would outlive its task.
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
  void tell() override { done_(std::move(result_), took_); }

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
  void tell() override { done_(result_, took_); }

 private:
  store::RetentionStore& store_;
  const std::int64_t spare_pages_;
  const Tidied done_;
  base::Result<bool> result_ = false;
  std::chrono::nanoseconds took_{};
};

}  // namespace baton::engine
