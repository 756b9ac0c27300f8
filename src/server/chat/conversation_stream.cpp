#include "server/chat/conversation_stream.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/guarded.h"
#include "engine/live/conversation_key.h"

namespace baton::server::chat {
namespace {

// The result of a look.
struct Found {
  std::vector<ConversationStream::Next> runs;
  std::vector<FoundRun> ahead;  // after those, the last one first
};

// The runs whose messages one look reads, and the bytes of their messages after which it ends.
constexpr std::size_t kRunsAtOnce = 8;
constexpr std::size_t kAskedBytesMax = 4 << 20;
// The part of the budget that a look takes; what it has found counts in ConversationStream::held.
constexpr std::size_t kLookBytes = 10 << 20;

std::size_t weight_of_ahead(const std::vector<FoundRun>& runs) {
  constexpr std::size_t kTaskId = 40;
  return runs.size() * (sizeof(FoundRun) + kTaskId);
}

// The next runs to show. `ahead`: runs that an earlier look has found; if there are none, finds more.
base::Result<Found> next_runs(const engine::TaskReader& reader, const task::ContextRef& context,
                              ConversationPlace& place, std::vector<FoundRun> ahead) {
  if (ahead.empty()) {
    auto runs = runs_ahead(reader, context, place);
    if (!runs) return base::fail(runs.error());
    ahead = std::move(*runs);
    std::ranges::reverse(ahead);
  }
  Found found;
  std::size_t bytes = 0;
  while (!ahead.empty() && found.runs.size() < kRunsAtOnce && bytes <= kAskedBytesMax) {
    auto asked = asked_by(reader, ahead.back());
    if (!asked) return base::fail(asked.error());
    ConversationStream::Next next{std::move(ahead.back()), std::move(*asked)};
    ahead.pop_back();
    for (const task::Message& message : next.asked) next.bytes += task::weight_of(message);
    bytes += next.bytes;
    found.runs.push_back(std::move(next));
  }
  found.ahead = std::move(ahead);
  return found;
}

}  // namespace

struct ConversationStream::Shared {
  struct Look {
    bool is_under_way = false, is_done = false, failed = false;
    Found found;
    ConversationPlace place;
  };
  explicit Shared(http::Waker waker) : wake(std::move(waker)) {}

  void deliver(base::Result<Found> found, ConversationPlace place) {
    if (!found) spdlog::error("cannot read a conversation for a stream: {}", found.error().for_log);
    look.with([&](Look& one) {
      one.is_under_way = false;
      one.is_done = true;
      one.failed = !found;
      if (found) one.found = std::move(*found);
      one.place = std::move(place);
    });
    wake();
  }

  const http::Waker wake;
  std::atomic<bool> news{true};  // there may be a run that was not found yet
  base::Guarded<Look> look;
};

ConversationStream::ConversationStream(const Services& services, Start start, http::Waker waker)
    : services_(services), start_(std::move(start)), shared_(std::make_shared<Shared>(std::move(waker))) {
  subscription_ =
      services_.engine.live().subscribe(engine::conversation_key(start_.context), [shared = shared_] {
        shared->news = true;
        shared->wake();
      });
  if (start_.run) begin(*std::exchange(start_.run, std::nullopt), start_.shown);
}

ConversationStream::~ConversationStream() = default;

void ConversationStream::begin(Next next, std::optional<RunPosition> shown) {
  shown_ = std::move(next.run);
  RunStream::Start start{shown_.key, shown_.name.task, shown_.name.before, shown, false, nullptr, {}};
  start.view = start_.view(shown_.name, std::move(next.asked));
  start.id_begins = start_.place.prefix();
  run_ = std::make_unique<RunStream>(services_, std::move(start), shared_->wake);
}

void ConversationStream::finish() {
  run_.reset();
  start_.place.add(shown_.name, shown_.began);
}

std::size_t ConversationStream::held() const {
  std::size_t bytes = run_ ? run_->held() : 0;
  for (const Next& next : next_) bytes += next.bytes;
  return bytes + weight_of_ahead(ahead_) + shared_->look.with([](const Shared::Look& look) {
    std::size_t found = weight_of_ahead(look.found.ahead);
    for (const Next& next : look.found.runs) found += next.bytes;
    return found;
  });
}

// Takes what a look has found. Returns whether there is a run to show.
bool ConversationStream::take_found() {
  if (next_.empty()) {
    auto look = shared_->look.with([](Shared::Look& one) {
      Shared::Look taken;
      if (one.is_done) taken = std::exchange(one, {});
      return taken;
    });
    failed_ = look.failed;
    if (look.is_done && !look.failed) start_.place = std::move(look.place);
    if (look.is_done) ahead_ = std::move(look.found.ahead);
    for (Next& next : look.found.runs) next_.push_back(std::move(next));
    if (!next_.empty()) shared_->news = true;  // there may be more
  }
  if (next_.empty()) return false;
  Next next = std::move(next_.front());
  next_.pop_front();
  begin(std::move(next), std::nullopt);
  return true;
}

// Begins to look for runs if there is news. Returns false if the pool is full.
bool ConversationStream::look() {
  const bool is_under_way = shared_->look.with([](const Shared::Look& one) { return one.is_under_way; });
  if (is_under_way || !shared_->news.exchange(false)) return true;
  shared_->look.with([](Shared::Look& one) { one.is_under_way = true; });
  auto work = [shared = shared_, &reader = services_.engine.reader(), context = start_.context,
               place = start_.place, ahead = std::make_shared<std::vector<FoundRun>>(std::move(ahead_))](
                  const AnswerBudget::SharePtr&) mutable {
    base::Result<Found> found = base::fail(base::ErrorCode::overloaded, "", "out of memory");
    try {
      found = next_runs(reader, context, place, std::move(*ahead));
    } catch (const std::bad_alloc&) {
      found = base::fail(base::ErrorCode::overloaded, "", "out of memory");
    }
    shared->deliver(std::move(found), std::move(place));
  };
  if (services_.pages == nullptr) return services_.readers.try_submit([work]() mutable { work(nullptr); });
  services_.pages->enter(
      {}, kLookBytes,
      [&readers = services_.readers, shared = shared_, work](const AnswerBudget::SharePtr& share) {
        if (share && readers.try_submit([work, share]() mutable { work(share); })) return;
        shared->deliver(base::fail(base::ErrorCode::overloaded, "", "too many requests read logs"), {});
      });
  return true;
}

http::StreamSource::Next ConversationStream::pull(std::string& out, std::size_t room) {
  using Step = http::StreamSource::Next;
  if (!start_.first_block.empty()) {
    has_ids_ = true;
    out += std::exchange(start_.first_block, {});
    return Step::more;
  }
  start_.share.reset();  // the first block has been sent
  while (run_ || take_found()) {
    const Step step = run_->pull(out, room);
    has_ids_ |= run_->has_ids();
    if (step != Step::end) return step;
    if (!run_->is_over()) return Step::end;
    finish();
  }
  return failed_ || !look() ? Step::end : Step::wait;
}

}  // namespace baton::server::chat
