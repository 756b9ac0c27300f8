#include "server/log_stream.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>

#include "base/guarded.h"
#include "wire/sse/sse_writer.h"

namespace baton::server {
namespace {

constexpr int kPage = 128;
constexpr std::size_t kBatch = 64;

}  // namespace

void make_one_line(std::string& json) {
  if (json.find_first_of("\r\n") == std::string::npos) return;
  std::replace_if(
      json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

struct LogStream::Shared {
  struct Page {
    std::vector<task::Event> events;
    task::EventNumber after;
    bool fetching = false;
    bool ready = false;
    bool failed = false;
  };
  explicit Shared(http::Waker waker) : wake(std::move(waker)) {}
  const http::Waker wake;
  std::atomic<bool> news{true};  // the log may have grown since it was last read
  base::Guarded<Page> page;
};

LogStream::LogStream(const Services& services, Start start, http::Waker waker)
    : services_(services),
      start_(std::move(start)),
      position_(start_.after),
      ended_(start_.ended_there),
      shared_(std::make_shared<Shared>(std::move(waker))) {
  subscription_ = services_.engine.feed().subscribe(start_.task, [shared = shared_] {
    shared->news = true;
    shared->wake();
  });
}

void LogStream::append(const task::Event& event, std::string& out) {
  const task::StatusChanged* status = task::status_in(event);
  ended_ = status && task::is_terminal(status->status.state);
  over_ = start_.ends_at && status && start_.ends_at(status->status.state);
  scratch_.clear();
  const bool is_news = event.number > start_.shown_through;
  if (is_news && start_.view(event, start_.ends_at ? over_ : ended_, scratch_)) {
    make_one_line(scratch_);
    wire::append_sse(out, event.number.value, scratch_);
  } else {
    wire::append_sse_id(out, event.number.value);
  }
  position_ = event.number;
}

void LogStream::append_tail(const std::vector<engine::Feed::EventPtr>& events, std::string& out,
                            std::size_t room) {
  for (const engine::Feed::EventPtr& event : events) {
    append(*event, out);
    if (out.size() >= room || over_) return;
  }
}

// False: there is nothing left of the last page from the store.
bool LogStream::append_page(std::string& out, std::size_t room) {
  if (page_next_ == page_.size()) return false;
  while (page_next_ < page_.size() && out.size() < room) {
    append(page_[page_next_++], out);
    if (over_) return true;
  }
  if (page_next_ == page_.size()) page_ = {}, page_next_ = 0;
  return true;
}

http::StreamSource::Next LogStream::pull(std::string& out, std::size_t room) {
  if (!start_.first_block.empty()) {
    out += std::exchange(start_.first_block, {});
    return Next::more;
  }
  if (over_) return Next::end;

  if (append_page(out, room)) return Next::more;

  auto page = shared_->page.with([](Shared::Page& p) {
    return p.ready ? std::exchange(p, {}) : Shared::Page{{}, {}, p.fetching, false, false};
  });
  if (page.failed) return Next::end;  // the reader comes back with the last number it has
  if (page.ready && !page.events.empty()) {
    shared_->news = true;  // there may be a next page
    page_ = std::move(page.events);
    page_next_ = 0;
    append_page(out, room);
    return Next::more;
  }
  const bool log_is_read = page.ready && page.after == position_;

  const engine::Feed::Tail tail = services_.engine.feed().after(start_.task, position_, kBatch);
  if (tail.known) {
    if (tail.events.empty()) return ended_ ? Next::end : Next::wait;
    append_tail(tail.events, out, room);
    return Next::more;
  }
  if (log_is_read && !shared_->news) return ended_ ? Next::end : Next::wait;
  if (page.fetching) return Next::wait;
  const bool reads = shared_->news.exchange(false) || ended_;
  // Refused by a full pool: the reader comes back with the last number it has.
  if (reads && !fetch()) return Next::end;
  return Next::wait;
}

bool LogStream::fetch() {
  shared_->page.with([](Shared::Page& page) { page.fetching = true; });
  auto work = [shared = shared_, &tasks = services_.engine.tasks(), key = start_.task, after = position_] {
    auto events = tasks.events(key, after, kPage);
    if (!events) spdlog::error("a stream cannot read its log: {}", events.error().for_log);
    shared->page.with([&](Shared::Page& page) {
      page.fetching = false;
      page.ready = true;
      page.after = after;
      page.failed = !events;
      if (events) page.events = std::move(*events);
    });
    shared->wake();
  };
  return services_.readers.try_submit(std::move(work));
}

}  // namespace baton::server
