#include "server/streams/log_reader.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <utility>

#include "base/guarded.h"

namespace baton::server {
namespace {

constexpr int kPage = 128;
constexpr std::size_t kBatch = 64;
// The part of the budget that a page takes while it is read; from then on it counts in LogReader::held. The
// event that reaches 1 MiB ends a page.
constexpr std::size_t kPageBytesMax = 10 << 20;

std::size_t weight_of(const std::vector<task::Event>& events) {
  std::size_t bytes = 0;
  for (const task::Event& event : events) bytes += task::weight_of(event.body);
  return bytes;
}

}  // namespace

struct LogReader::Shared {
  struct Page {
    std::vector<task::Event> events;
    task::EventNumber after;
    bool fetching = false;
    bool ready = false;
    bool failed = false;
    std::size_t bytes = 0;  // of the events
  };
  explicit Shared(http::Waker waker) : wake(std::move(waker)) {}
  // Called when a read of the store has ended.
  void deliver(task::EventNumber after, base::Result<std::vector<task::Event>> events) {
    const std::size_t bytes = events ? weight_of(*events) : 0;
    const bool is_gone = !events && events.error().code == base::ErrorCode::task_not_found;
    if (!events && !is_gone) spdlog::error("cannot read the log for a stream: {}", events.error().for_log);
    page.with([&](Page& fetched) {
      fetched.fetching = false;
      fetched.ready = true;
      fetched.after = after;
      fetched.failed = !events;
      fetched.bytes = bytes;
      if (events) fetched.events = std::move(*events);
    });
    wake();
  }

  const http::Waker wake;
  std::atomic<bool> news{true};  // the log may have grown since it was last read
  base::Guarded<Page> page;
};

LogReader::LogReader(const Services& services, task::TaskKey task, task::EventNumber after, http::Waker waker,
                     std::vector<task::Event> page)
    : services_(services),
      task_(task),
      position_(after),
      page_(std::move(page)),
      page_bytes_(weight_of(page_)),
      shared_(std::make_shared<Shared>(std::move(waker))) {
  subscription_ = services_.engine.live().subscribe(task_, [shared = shared_] {
    shared->news = true;
    shared->wake();
  });
}

LogReader::~LogReader() = default;

std::size_t LogReader::held() const {
  return page_bytes_ + shared_->page.with([](const Shared::Page& page) { return page.bytes; });
}

bool LogReader::hand_over(const task::Event& event, Taker& taker) {
  position_ = event.number;
  return taker.accept(event);
}

// Hands over events of the last page from the store. Returns false if none were left.
bool LogReader::hand_over_page(Taker& taker) {
  if (page_next_ == page_.size()) return false;
  bool goes_on = true;
  while (page_next_ < page_.size() && goes_on) {
    const task::Event& event = page_[page_next_++];
    page_bytes_ -= task::weight_of(event.body);
    goes_on = hand_over(event, taker);
  }
  if (page_next_ == page_.size()) page_ = {}, page_next_ = 0;
  return true;
}

LogReader::Found LogReader::read(Taker& taker, bool expects_none) {
  if (hand_over_page(taker)) return Found::events;

  auto page = shared_->page.with([](Shared::Page& p) {
    return p.ready ? std::exchange(p, {}) : Shared::Page{{}, {}, p.fetching};
  });
  if (page.failed) return Found::failed;
  // The live log may have served these events while they were being fetched.
  const bool is_next = page.ready && page.after == position_;
  if (page.ready && !is_next) shared_->news = true;
  if (is_next && !page.events.empty()) {
    shared_->news = true;  // there may be a next page
    page_ = std::move(page.events);
    page_next_ = 0;
    page_bytes_ = page.bytes;
    hand_over_page(taker);
    return Found::events;
  }
  const engine::LiveLogPtr log = services_.engine.live().log(task_);
  if (log && log->covers(position_)) {
    const std::vector<task::EventPtr> events = log->after(position_, kBatch);
    for (const task::EventPtr& event : events) {
      if (!hand_over(*event, taker)) break;
    }
    return events.empty() ? Found::nothing : Found::events;
  }
  if (is_next && !shared_->news) return Found::nothing;
  if (page.fetching) return Found::later;
  const bool reads = shared_->news.exchange(false) || expects_none;
  return reads && !fetch() ? Found::failed : Found::later;
}

// Starts to read the next page from the store. Returns false if the pool is full.
bool LogReader::fetch() {
  shared_->page.with([](Shared::Page& page) { page.fetching = true; });
  auto work = [shared = shared_, &reader = services_.engine.reader(), key = task_, after = position_] {
    base::Result<std::vector<task::Event>> events =
        base::fail(base::ErrorCode::internal, "the task's log cannot be read now; try again later");
    try {
      events = reader.events(key, after, kPage);
      if (events && events->empty()) {
        // A task that is gone has no more events, ever.
        if (const auto head = reader.head(key); !head) events = base::fail(head.error());
      }
    } catch (const std::bad_alloc&) {
      events = base::fail(base::ErrorCode::overloaded, "the task's log cannot be read now; try again later",
                          "out of memory");
    }
    shared->deliver(after, std::move(events));
  };
  if (services_.pages == nullptr) return services_.readers.try_submit(work);
  services_.pages->enter({}, kPageBytesMax,
                         [&readers = services_.readers, shared = shared_, after = position_,
                          work](AnswerBudget::SharePtr share) {
                           // The work keeps the share until the page is delivered.
                           if (share && readers.try_submit([work, share] { work(); })) return;
                           shared->deliver(after,
                                           base::fail(base::ErrorCode::overloaded,
                                                      "too many requests are reading logs; try again later"));
                         });
  return true;
}

}  // namespace baton::server
