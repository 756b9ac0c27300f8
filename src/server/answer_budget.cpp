#include "server/answer_budget.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/guarded.h"

namespace baton::server {
namespace {

struct Waiting {
  std::uint64_t id;
  std::string caller;
  std::size_t bytes;
  AnswerBudget::Ready ready;
};

}  // namespace

struct AnswerBudget::State : std::enable_shared_from_this<State> {
  struct Books {
    std::size_t held = 0;
    std::unordered_map<std::string, std::size_t> by_caller;
    std::deque<Waiting> waiting;
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
  static void take(Books& books, const std::string& caller, std::size_t bytes) {
    books.held += bytes;
    books.by_caller[caller] += bytes;
  }

  // Gives memory back and lets in those who have waited longest, as far as there is room.
  void give_back(const std::string& caller, std::size_t bytes) {
    std::vector<Waiting> admitted = state.with([&](Books& books) {
      books.held -= bytes;
      const auto own = books.by_caller.find(caller);
      if ((own->second -= bytes) == 0) books.by_caller.erase(own);
      return admit(books);
    });
    let_in(admitted);
  }

  // Those behind it may have room now.
  void give_up(std::uint64_t id) {
    Ready ready;
    std::vector<Waiting> admitted = state.with([&](Books& books) {
      const auto found = std::ranges::find(books.waiting, id, &Waiting::id);
      if (found == books.waiting.end()) return std::vector<Waiting>();
      ready = std::move(found->ready);
      books.waiting.erase(found);
      return admit(books);
    });
    if (ready) run(std::move(ready), nullptr);
    let_in(admitted);
  }

  void let_in(std::vector<Waiting>& admitted) {
    for (Waiting& one : admitted) {
      auto share = std::make_shared<Share>(shared_from_this(), one.caller, one.bytes);
      run(std::move(one.ready), std::move(share));
    }
  }

  // Those who may go in now. It is asked after every change, so that what is not in has to wait for room or
  // for its caller's share.
  std::vector<Waiting> admit(Books& books) {
    std::vector<Waiting> admitted;
    for (auto one = books.waiting.begin(); one != books.waiting.end() && has_room(books, one->bytes);) {
      if (!is_within_share(books, one->caller, one->bytes)) {
        ++one;
        continue;
      }
      take(books, one->caller, one->bytes);
      admitted.push_back(std::move(*one));
      one = books.waiting.erase(one);
    }
    return admitted;
  }

  const std::size_t bytes_max;
  const std::size_t waiting_max;
  base::WorkerPool& pool;
  base::Guarded<Books> state;

 private:
  // Whoever gives back may be the server's loop, which must not read.
  void run(Ready ready, SharePtr share) {
    std::function<void()> work = [ready, share = std::move(share)]() mutable { ready(std::move(share)); };
    if (!pool.try_submit(std::move(work))) ready(nullptr);
  }
};

AnswerBudget::Share::Share(std::shared_ptr<State> state, std::string caller, std::size_t bytes)
    : state_(std::move(state)), caller_(std::move(caller)), bytes_(bytes) {}

AnswerBudget::Share::~Share() {
  state_->give_back(caller_, bytes_);
}

void AnswerBudget::Share::shrink(std::size_t bytes) {
  // Something is left, so that the caller is known to have an answer under way.
  const std::size_t kept = std::clamp<std::size_t>(bytes, 1, bytes_);
  if (kept < bytes_) state_->give_back(caller_, std::exchange(bytes_, kept) - kept);
}

AnswerBudget::AnswerBudget(std::size_t bytes_max, std::size_t waiting_max, std::chrono::milliseconds wait_max,
                           base::WorkerPool& pool, base::EventLoop& timers)
    : wait_max_(wait_max), timers_(timers), state_(std::make_shared<State>(bytes_max, waiting_max, pool)) {}

AnswerBudget::~AnswerBudget() {
  std::deque<Waiting> dropped;
  state_->state.with([&](State::Books& books) {
    books.closed = true;
    dropped.swap(books.waiting);
  });
}

void AnswerBudget::enter(const std::string& caller, std::size_t bytes, Ready ready) {
  std::uint64_t id = 0;
  bool refused = false;
  // At the end of the line, and in at once if nobody before it waits for room.
  std::vector<Waiting> admitted = state_->state.with([&](State::Books& books) {
    refused = books.closed || books.waiting.size() >= state_->waiting_max;
    if (refused) return std::vector<Waiting>();
    id = ++books.last_id;
    books.waiting.push_back({id, caller, std::max<std::size_t>(bytes, 1), ready});
    return state_->admit(books);
  });
  if (refused) return ready(nullptr);
  // Nobody else: whoever had room was let in by the change that made it.
  if (!admitted.empty()) return ready(std::make_shared<Share>(state_, caller, admitted.front().bytes));
  timers_.after(wait_max_, [weak = std::weak_ptr<State>(state_), id] {
    if (const auto state = weak.lock()) state->give_up(id);
  });
}

}  // namespace baton::server
