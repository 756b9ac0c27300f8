#include "server/shared/answer_budget.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <list>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/exception_report.h"
#include "base/guarded.h"

namespace baton::server {
namespace {

// A waiting answer. Everything that its admission needs is allocated when it starts to wait, because
// releasing memory must not need memory.
struct Waiting {
  std::uint64_t id;
  AnswerBudget::Ready ready;
  AnswerBudget::Share* share;
  std::function<void()> work;  // owns the share, and calls `ready` with it
};

}  // namespace

struct AnswerBudget::State : std::enable_shared_from_this<State> {
  using Line = std::list<Waiting>;
  struct Books {
    std::size_t held = 0;
    std::unordered_map<std::string, std::size_t> by_caller;
    Line waiting;
    std::uint64_t last_id = 0;
    bool closed = false;
  };

  State(std::size_t most, std::size_t waiting, base::WorkerPool& workers)
      : bytes_max(most), waiting_max(waiting), pool(workers) {}

  bool has_room(const Books& books, std::size_t bytes) const {
    return books.held == 0 || books.held + bytes <= bytes_max;
  }
  bool is_within_share(const Books& books, const std::string& caller, std::size_t bytes) const {
    if (caller.empty()) return true;
    const auto own = books.by_caller.find(caller);
    return own == books.by_caller.end() || own->second + bytes <= bytes_max / 2;
  }
  static void charge(Books& books, Share& share) {
    books.by_caller[share.caller_] += share.bytes_;
    books.held += share.bytes_;
    share.is_held_ = true;
  }
  static void drop(Books& books, const std::string& caller, std::size_t bytes) noexcept {
    books.held -= bytes;
    const auto own = books.by_caller.find(caller);
    if ((own->second -= bytes) == 0) books.by_caller.erase(own);
  }

  static void undo(Books& books, Share& share) noexcept {
    share.is_held_ = false;
    drop(books, share.caller_, share.bytes_);
  }

  // Returns memory to the budget, and admits the answers that have room now.
  void give_back(const std::string& caller, std::size_t bytes) noexcept {
    state.with([&](Books& books) { drop(books, caller, bytes); });
    let_in();
  }

  // Removes a waiting answer and refuses it, then admits the answers behind it that have room now.
  void give_up(std::uint64_t id) {
    Line given_up;
    state.with([&](Books& books) {
      const auto found = std::ranges::find(books.waiting, id, &Waiting::id);
      if (found != books.waiting.end()) given_up.splice(given_up.end(), books.waiting, found);
    });
    if (given_up.empty()) return;
    let_in();
    const Ready& ready = given_up.front().ready;
    if (!pool.try_submit([ready] { ready(nullptr); })) ready(nullptr);
  }

  // Admits all answers that have room now, longest waiting first. Runs after every change, so that any answer
  // still waiting lacks room in the budget or in its caller's share. An answer that cannot be admitted for
  // lack of memory keeps waiting.
  void let_in() noexcept {
    Line admitted;
    try {
      while (true) {
        state.with([&](Books& books) { admit(books, admitted); });
        if (admitted.empty()) return;
        // On the pool: the releasing thread may be the server's loop, which must not read the store.
        if (!pool.try_submit(std::move(admitted.front().work))) {
          state.with([&](Books& books) { undo(books, *admitted.front().share); });
          admitted.front().ready(nullptr);
        }
        admitted.clear();
      }
    } catch (const std::exception& error) {
      base::report_exception("answers", error.what());
    }
    put_back(admitted);
  }

  // Moves the answer in `admitted`, if any, back to the front of the queue.
  void put_back(Line& admitted) noexcept {
    state.with([&](Books& books) {
      if (admitted.empty()) return;
      if (admitted.front().share->is_held_) undo(books, *admitted.front().share);
      books.waiting.splice(books.waiting.begin(), admitted);
    });
  }

  // Moves the first waiting answer that may be admitted, if any, to `admitted`. Answers are not overtaken for
  // lack of room in the budget, only for lack of room in their caller's share.
  void admit(Books& books, Line& admitted) {
    for (auto one = books.waiting.begin(); one != books.waiting.end(); ++one) {
      const Share& share = *one->share;
      if (!is_within_share(books, share.caller_, share.bytes_)) continue;
      if (!has_room(books, share.bytes_)) return;
      charge(books, *one->share);
      return admitted.splice(admitted.end(), books.waiting, one);
    }
  }

  // All that may be admitted has been: an answer that still waits within its caller's share lacks room.
  bool lacks_room(const Books& books) const {
    return std::ranges::any_of(books.waiting, [&](const Waiting& one) {
      return is_within_share(books, one.share->caller_, one.share->bytes_);
    });
  }

  const std::size_t bytes_max;
  const std::size_t waiting_max;
  base::WorkerPool& pool;
  base::Guarded<Books> state;
};

AnswerBudget::Share::Share(std::shared_ptr<State> state, std::string caller, std::size_t bytes)
    : state_(std::move(state)), caller_(std::move(caller)), bytes_(bytes) {}

AnswerBudget::Share::~Share() {
  if (is_held_) state_->give_back(caller_, bytes_);
}

void AnswerBudget::Share::shrink(std::size_t bytes) {
  // Keeps at least one byte, so that the caller still counts as having an answer in progress.
  const std::size_t kept = std::clamp<std::size_t>(bytes, 1, bytes_);
  if (kept < bytes_) state_->give_back(caller_, std::exchange(bytes_, kept) - kept);
}

AnswerBudget::AnswerBudget(std::size_t bytes_max, std::size_t waiting_max, std::chrono::milliseconds wait_max,
                           base::WorkerPool& pool, base::EventLoop& timers)
    : wait_max_(wait_max), timers_(timers), state_(std::make_shared<State>(bytes_max, waiting_max, pool)) {}

AnswerBudget::~AnswerBudget() {
  State::Line dropped;
  state_->state.with([&](State::Books& books) {
    books.closed = true;
    dropped.swap(books.waiting);
  });
}

bool AnswerBudget::lacks_room() const {
  return state_->state.with([&](const State::Books& books) { return state_->lacks_room(books); });
}

void AnswerBudget::enter(const std::string& caller, std::size_t bytes, Ready ready) {
  auto share = std::make_shared<Share>(state_, caller, std::max<std::size_t>(bytes, 1));
  State::Line one;
  one.push_back({0, ready, share.get(), [ready, share] { ready(share); }});
  std::uint64_t id = 0;
  State::Line admitted;
  const bool refused = state_->state.with([&](State::Books& books) {
    if (books.closed || books.waiting.size() >= state_->waiting_max) return true;
    one.front().id = id = ++books.last_id;
    books.waiting.splice(books.waiting.end(), one);
    // Admits this one or none, unless lack of memory kept an earlier one waiting that has room.
    state_->admit(books, admitted);
    return false;
  });
  if (refused) return ready(nullptr);
  if (!admitted.empty() && admitted.front().share == share.get()) {
    admitted.clear();
    return ready(std::move(share));
  }
  if (!admitted.empty()) {
    state_->put_back(admitted);
    state_->let_in();
  }
  try {
    timers_.after(wait_max_, [weak = std::weak_ptr<State>(state_), id] {
      if (const auto state = weak.lock()) state->give_up(id);
    });
  } catch (const std::bad_alloc&) {
    state_->give_up(id);
  }
}

}  // namespace baton::server
