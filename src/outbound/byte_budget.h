// ByteBudget: limits the memory that other servers' answers use in this program, over all calls. Intake: the
// share of one user of the budget, such as a running turn.
//
// A call may hold kFree bytes of an answer without the budget. For more it must be granted bytes, and it
// waits while the budget is exhausted: it does not read from its socket, so the server has to wait too. All
// answers together hold at most three quarters of the budget while they are read, and those of one account
// half. Decoding needs more memory than the text; large answers use the last quarter for it, in turn.
//
// No deadlock: the largest answer of all, and the largest of each account, can always be read to its end,
// because the others leave as many bytes free as it may need. An Intake holds bytes only while it waits for
// its own server, its turn to decode, or the consumer of the decoded data.
//
// Threads: a ByteBudget may be used from any thread; an Intake from one at a time, but for `stop`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics_text.h"
#include "base/unique_fd.h"
#include "outbound/wait_limits.h"

namespace baton::outbound {

class Intake;

class ByteBudget {
 public:
  struct Options {
    std::size_t bytes_max = std::size_t{256} << 20;  // of all answers
    std::size_t answer_max = std::size_t{64} << 20;  // of one answer; capped at half of `bytes_max`
  };
  static constexpr std::size_t kFree = 64 << 10;

  ByteBudget() : ByteBudget(Options()) {}
  explicit ByteBudget(Options options);

  std::size_t answer_max() const { return answer_max_; }

  struct Counts {
    std::size_t bytes = 0;    // held beyond kFree of each call, and held for decoding
    std::size_t waiting = 0;  // calls that wait for bytes or for their turn to decode
  };
  Counts counts() const;
  // Adds the counts as metrics.
  void add_to(base::MetricsText& out) const;

 private:
  friend class Intake;
  struct Holder {
    std::string account;
    std::size_t granted = 0;
  };
  using Place = std::list<Holder>::iterator;

  Place enter(std::string account);
  void leave(Place holder);
  // A waiter that does not block: the descriptor becomes readable when it may be worthwhile to try again.
  using Signal = std::shared_ptr<base::UniqueFd>;
  // Grants `more`, or returns false and signals from then on.
  bool try_grant(Place holder, std::size_t more, const Signal& signal);
  void forget(const Signal& signal);
  // Call after each change that may help a waiter.
  void notify_waiters();
  // Waits until `more` may be granted.
  base::Result<void> grant(Place holder, std::size_t more, const WaitLimits& limits);
  void give_back(Place holder, std::size_t bytes);
  bool may_grant(const Holder& holder, std::size_t more) const;

  base::Result<void> begin_decoding(std::size_t cost, const WaitLimits& limits);
  void end_decoding(std::size_t cost);

  // Waits until `is_true`, within the limits. Call with the mutex locked.
  template <class Condition>
  base::Result<void> wait(std::unique_lock<std::mutex>& lock, const WaitLimits& limits, Condition is_true);

  const std::size_t reading_max_;   // of all answers while they are read
  const std::size_t account_max_;   // of one account's answers while they are read
  const std::size_t decoding_max_;  // of all decoding
  const std::size_t answer_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex.
  std::list<Holder> holders_;
  std::size_t decoding_ = 0;
  std::deque<std::uint64_t> decoders_;  // waiting, in order
  std::uint64_t next_decoder_ = 0;
  std::size_t waiting_ = 0;
  std::vector<Signal> signals_;  // each once
};

class Intake {
 public:
  // `budget` must outlive this; null: there are no limits. `account`: the account that the answers are for.
  // When `stop_fd` becomes readable, `decode` stops waiting; -1: none.
  explicit Intake(ByteBudget* budget, std::string account = {}, int stop_fd = -1);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  // Waits until `bytes` more may be held, and holds them. Fails with too_large if the answer exceeds its
  // limit, with deadline_exceeded if others hold the bytes for too long, or with unavailable after a stop.
  base::Result<void> acquire(std::size_t bytes, const WaitLimits& limits);
  // Like `acquire`, but returns false instead of waiting. Then wait until `room_fd` is readable, and try
  // again.
  base::Result<bool> try_acquire(std::size_t bytes);
  int room_fd() const { return room_->get(); }
  // Ends the wait that `try_acquire` has begun, if there is one.
  void stop_waiting();
  // Reduces the held bytes to `bytes`, and releases the others.
  void keep(std::size_t bytes);
  // Ends the wait of `decode`, and those that follow. From any thread.
  void stop() { is_stopped_ = true; }
  // Returns true if this holds more than a call may hold without the budget.
  bool holds_much() const { return granted_ > 0; }

  // The right to decode a text, for as long as this object exists.
  class Decoding {
   public:
    Decoding() = default;
    Decoding(ByteBudget* budget, std::size_t cost) : budget_(budget), cost_(cost) {}
    ~Decoding();
    Decoding(Decoding&& other) noexcept;
    Decoding& operator=(Decoding&&) = delete;

   private:
    ByteBudget* budget_ = nullptr;
    std::size_t cost_ = 0;
  };
  // Waits until a text of `text` bytes may be decoded into `made` further bytes. Fails with the errors of
  // `acquire`. Never waits for texts of up to kFree bytes.
  base::Result<Decoding> decode(std::size_t text, std::size_t made) const;

 private:
  // Calls `grant` with the further bytes that holding `bytes` more needs, if there are any.
  template <class Grant>
  base::Result<bool> acquire_by(std::size_t bytes, Grant grant);

  ByteBudget* const budget_;
  const std::string account_;
  const int stop_fd_;
  std::atomic<bool> is_stopped_ = false;
  std::optional<ByteBudget::Place> place_;  // set by the first grant
  std::size_t held_ = 0;
  std::size_t granted_ = 0;  // beyond kFree
  ByteBudget::Signal room_;  // null: `try_acquire` does not wait; shared with the budget
};

}  // namespace baton::outbound
