#include "outbound/byte_budget.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "outbound/http_client.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;

// Bytes are granted in steps, so that not every read takes the lock.
constexpr std::size_t kGrant = 256 << 10;
// How often a waiting call checks its stop descriptor.
constexpr std::chrono::milliseconds kLookAtStop{50};

}  // namespace

ByteBudget::ByteBudget(Options options)
    : reading_max_(options.bytes_max / 4 * 3),
      account_max_(options.bytes_max / 2),
      decoding_max_(options.bytes_max / 4),
      answer_max_(std::min(options.answer_max, account_max_)) {}

ByteBudget::Counts ByteBudget::counts() const {
  std::lock_guard lock(mutex_);
  Counts counts{decoding_, waiting_};
  for (const Holder& holder : holders_) counts.bytes += holder.granted;
  return counts;
}

void ByteBudget::add_to(base::MetricsText& out) const {
  const Counts now = counts();
  out.gauge("baton_outbound_bytes", "Bytes of other servers' answers held in memory.",
            static_cast<std::int64_t>(now.bytes));
  out.gauge("baton_outbound_waiting",
            "Calls to other servers that wait because outbound.bytes_max is reached.",
            static_cast<std::int64_t>(now.waiting));
}

ByteBudget::Place ByteBudget::enter(std::string account) {
  std::lock_guard lock(mutex_);
  return holders_.insert(holders_.end(), Holder{std::move(account)});
}

void ByteBudget::leave(Place holder) {
  {
    std::lock_guard lock(mutex_);
    holders_.erase(holder);
  }
  notify_waiters();
}

void ByteBudget::give_back(Place holder, std::size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    holder->granted -= bytes;
  }
  notify_waiters();
}

// The largest answer must be able to grow to `answer_max_`, so the others leave it the bytes that it may
// need.
bool ByteBudget::may_grant(const Holder& holder, std::size_t more) const {
  struct Scope {
    std::size_t total = 0, largest = 0;
    void add(std::size_t granted) {
      total += granted;
      largest = std::max(largest, granted);
    }
    bool fits(std::size_t own, std::size_t more, std::size_t most, std::size_t answer_max) const {
      const std::size_t reserve = own >= largest ? 0 : answer_max - largest;
      return total + more + reserve <= most;
    }
  };
  Scope all, account;
  for (const Holder& other : holders_) {
    all.add(other.granted);
    if (other.account == holder.account) account.add(other.granted);
  }
  return all.fits(holder.granted, more, reading_max_, answer_max_) &&
         account.fits(holder.granted, more, account_max_, answer_max_);
}

template <class Condition>
base::Result<void> ByteBudget::wait(std::unique_lock<std::mutex>& lock, const WaitLimits& limits,
                                    Condition is_true) {
  if (is_true()) return {};
  ++waiting_;
  base::Result<void> result;
  while (!is_true()) {
    const auto now = std::chrono::steady_clock::now();
    if (limits.deadline && now >= *limits.deadline) {
      result = fail(ErrorCode::deadline_exceeded,
                    "timed out waiting for other answers to free the memory that outbound.bytes_max allows");
      break;
    }
    if (is_stopped(limits.stop_fd) || (limits.stopped != nullptr && *limits.stopped)) {
      result = fail(canceled());
      break;
    }
    changed_.wait_until(lock, std::min(limits.deadline.value_or(SteadyTime::max()), now + kLookAtStop));
  }
  --waiting_;
  return result;
}

base::Result<void> ByteBudget::grant(Place holder, std::size_t more, const WaitLimits& limits) {
  std::unique_lock lock(mutex_);
  auto waited = wait(lock, limits, [&] { return may_grant(*holder, more); });
  if (waited) holder->granted += more;
  return waited;
}

bool ByteBudget::try_grant(Place holder, std::size_t more, const Signal& signal) {
  std::lock_guard lock(mutex_);
  if (may_grant(*holder, more)) {
    holder->granted += more;
    return true;
  }
  if (std::ranges::find(signals_, signal) == signals_.end()) {
    signals_.push_back(signal);
    ++waiting_;
  }
  return false;
}

void ByteBudget::forget(const Signal& signal) {
  std::lock_guard lock(mutex_);
  waiting_ -= std::erase(signals_, signal);
}

void ByteBudget::notify_waiters() {
  changed_.notify_all();
  std::lock_guard lock(mutex_);
  for (const Signal& signal : signals_) eventfd_write(signal->get(), 1);
}

base::Result<void> ByteBudget::begin_decoding(std::size_t cost, const WaitLimits& limits) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = next_decoder_++;
  decoders_.push_back(number);
  auto waited =
      wait(lock, limits, [&] { return decoders_.front() == number && decoding_ + cost <= decoding_max_; });
  std::erase(decoders_, number);
  if (waited) decoding_ += cost;
  lock.unlock();
  changed_.notify_all();  // the next waiting call may fit too
  return waited;
}

void ByteBudget::end_decoding(std::size_t cost) {
  {
    std::lock_guard lock(mutex_);
    decoding_ -= cost;
  }
  changed_.notify_all();
}

Intake::Intake(ByteBudget* budget, std::string account, int stop_fd)
    : budget_(budget), account_(std::move(account)), stop_fd_(stop_fd) {}

Intake::~Intake() {
  stop_waiting();
  if (place_) budget_->leave(*place_);
}

template <class Grant>
base::Result<bool> Intake::acquire_by(std::size_t bytes, Grant grant) {
  if (budget_ == nullptr) return true;
  const std::size_t most = budget_->answer_max_;
  if (held_ + bytes > most) {
    return fail(ErrorCode::too_large, "the answer is larger than " + std::to_string(most) +
                                          " bytes (outbound.task_bytes_max, and half of "
                                          "outbound.bytes_max)");
  }
  const std::size_t beyond = held_ + bytes - std::min(held_ + bytes, ByteBudget::kFree);
  if (beyond > granted_) {
    const std::size_t wanted = std::min((beyond + kGrant - 1) / kGrant * kGrant, most);
    if (!place_) place_ = budget_->enter(account_);
    if (const base::Result<bool> granted = grant(wanted - granted_); !granted || !*granted) return granted;
    granted_ = wanted;
  }
  held_ += bytes;
  return true;
}

base::Result<void> Intake::acquire(std::size_t bytes, const WaitLimits& limits) {
  const auto taken = acquire_by(bytes, [&](std::size_t more) -> base::Result<bool> {
    if (auto granted = budget_->grant(*place_, more, limits); !granted) return fail(granted.error());
    return true;
  });
  if (!taken) return fail(taken.error());
  return {};
}

base::Result<bool> Intake::try_acquire(std::size_t bytes) {
  auto taken = acquire_by(bytes, [&](std::size_t more) -> base::Result<bool> {
    if (!room_) room_ = std::make_shared<base::UniqueFd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!room_->valid()) return fail(ErrorCode::unavailable, "too many files are open; try again later");
    eventfd_t count = 0;
    eventfd_read(room_->get(), &count);
    return budget_->try_grant(*place_, more, room_);
  });
  if (!taken || *taken) stop_waiting();
  return taken;
}

void Intake::stop_waiting() {
  if (room_) budget_->forget(room_);
  room_.reset();
}

void Intake::keep(std::size_t bytes) {
  held_ = bytes;
  const std::size_t beyond = held_ - std::min(held_, ByteBudget::kFree);
  const std::size_t needed = (beyond + kGrant - 1) / kGrant * kGrant;
  if (needed >= granted_) return;
  budget_->give_back(*place_, granted_ - needed);
  granted_ = needed;
}

base::Result<Intake::Decoding> Intake::decode(std::size_t text, std::size_t made) const {
  if (budget_ == nullptr) return Decoding();
  if (made > budget_->answer_max_) {
    return fail(ErrorCode::too_large, "the answer contains so many values that decoding it takes more than " +
                                          std::to_string(budget_->answer_max_) +
                                          " bytes (outbound.task_bytes_max)");
  }
  if (text <= ByteBudget::kFree) return Decoding();
  // The decoded values, and a copy of the texts until they are in the log.
  const std::size_t cost = std::min(made + 2 * text, budget_->decoding_max_);
  WaitLimits limits;
  limits.stop_fd = stop_fd_;
  limits.stopped = &is_stopped_;
  if (const auto begun = budget_->begin_decoding(cost, limits); !begun) return fail(begun.error());
  return Decoding(budget_, cost);
}

Intake::Decoding::~Decoding() {
  if (budget_ != nullptr) budget_->end_decoding(cost_);
}

Intake::Decoding::Decoding(Decoding&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), cost_(other.cost_) {}

}  // namespace baton::outbound
