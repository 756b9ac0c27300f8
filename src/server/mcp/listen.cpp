#include "server/mcp/listen.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "base/guarded.h"
#include "server/mcp/handles.h"

namespace baton::server::mcp {
namespace {

using json::Writer;
using std::chrono::milliseconds;

// After a moment in which too many reads waited, or the client did not read.
constexpr milliseconds kReadAgain{1'000};

void write_subscription(Writer& out, const McpCall& stream) {
  out.key("_meta").object([&] { out.key("io.modelcontextprotocol/subscriptionId").raw(stream.request.id); });
}

// Calls `run` on a thread that may block, unless the object is gone by then.
template <class T>
void run_soon(T& object, void (T::*run)()) {
  const std::weak_ptr<T> self = object.weak_from_this();
  const auto work = [self, run] {
    if (const auto one = self.lock()) ((*one).*run)();
  };
  const McpCall& stream = object.stream();
  if (!stream.is_behind() && stream.services.readers.try_submit(work)) return;
  stream.services.engine.after(kReadAgain, [self, run] {
    if (const auto one = self.lock()) run_soon(*one, run);
  });
}

// The list of tools of a stream. Held as Watched is.
class WatchedList : public std::enable_shared_from_this<WatchedList> {
 public:
  WatchedList(McpCallPtr stream, HeardList list)
      : stream_(std::move(stream)), list_(std::move(list)), told_(now()) {}

  void begin() {
    hold_ = list_.changes.add([self = weak_from_this()] {
      if (const auto list = self.lock()) list->look_soon();
    });
    look_soon();  // it may have changed since it was read first
  }
  const McpCall& stream() const { return *stream_; }

 private:
  std::size_t now() const { return std::hash<std::string>()(list_.read()); }

  void look_soon() { run_soon(*this, &WatchedList::look); }

  void look() {
    const std::size_t read = now();
    if (told_.exchange(read) == read) return;
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/tools/list_changed");
      if (stream_->request.is_modern) out.key("params").object([&] { write_subscription(out, *stream_); });
    });
    stream_->add(body);
  }

  const McpCallPtr stream_;
  const HeardList list_;
  std::atomic<std::size_t> told_;  // of the list that the client has, or has heard of
  ListChanges::Hold hold_;         // last: it ends first
};

// One task of a stream. The stream holds it; callbacks hold it only while they run.
class Watched : public std::enable_shared_from_this<Watched> {
 public:
  Watched(McpCallPtr stream, Heard heard, task::TaskKey key)
      : stream_(std::move(stream)), heard_(std::move(heard)), key_(key) {}

  void begin() {
    subscription_ = heard_.call->services.engine.live().subscribe(key_, [self = weak_from_this()] {
      if (const auto watched = self.lock()) watched->news();
    });
    news();
  }
  const McpCall& stream() const { return *stream_; }

 private:
  struct State {
    bool reads = false, has_news = false;
    task::EventNumber told;  // the status that was sent last
  };

  // At most one read at a time; news that come meanwhile cause another.
  void news() {
    const bool begins = state_.with([](State& now) {
      now.has_news = true;
      return !std::exchange(now.reads, true);
    });
    if (begins) read_soon();
  }

  void read_soon() { run_soon(*this, &Watched::read); }

  void read() {
    const task::EventNumber told = state_.with([](State& now) {
      now.has_news = false;
      return now.told;
    });
    const auto head = heard_.call->services.engine.reader().head(key_);
    if (!head || head->status_event <= told) return done({});
    read_shown(heard_.call, *head,
               [self = shared_from_this(), head = *head](const base::Result<task::Task>& task) {
                 // Not kept with the call, which lasts as long as the stream.
                 AnswerBudget::SharePtr part = std::move(self->heard_.call->share);
                 if (task) self->tell(head, *task, std::move(part));
                 self->done(task ? head.status_event : task::EventNumber{});
               });
  }

  void tell(const task::TaskHead& head, const task::Task& task, AnswerBudget::SharePtr part) const {
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/tasks");
      out.key("params").object([&] {
        write_detailed(out, heard_.call, head, task);
        write_subscription(out, *stream_);
      });
    });
    stream_->add(std::move(body), {}, std::move(part));
  }

  void done(task::EventNumber told) {
    const bool again = state_.with([&](State& now) {
      now.told = std::max(now.told, told);
      now.reads = now.has_news;
      return now.has_news;
    });
    if (again) read_soon();
  }

  const McpCallPtr stream_;
  const Heard heard_;
  const task::TaskKey key_;
  base::Guarded<State> state_;
  engine::LiveTasks::Subscription subscription_;  // last: it ends first
};

std::string acknowledgement(const McpCall& stream, const std::vector<Heard>& tasks, bool list) {
  std::string body;
  Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0").member("method", "notifications/subscriptions/acknowledged");
    out.key("params").object([&] {
      out.key("notifications").object([&] {
        if (list) out.member("toolsListChanged", true);
        if (tasks.empty()) return;
        out.key("taskIds").each(tasks, [&](const Heard& one) { out.string(one.id.value); });
      });
      write_subscription(out, stream);
    });
  });
  return body;
}

}  // namespace

void listen(const McpCallPtr& call, std::vector<Heard> tasks, std::optional<HeardList> list) {
  call->hold = call->services.options.streams.acquire(call->identity);
  if (!call->hold) {
    return call->refuse({base::ErrorCode::overloaded,
                         "too many of this caller's streams are open; close one or try again later",
                         {}});
  }
  struct All {
    std::vector<std::shared_ptr<Watched>> tasks;
    std::shared_ptr<WatchedList> list;
  };
  auto all = std::make_shared<All>();
  if (list) all->list = std::make_shared<WatchedList>(call, std::move(*list));
  std::vector<Heard> known;
  for (Heard& one : tasks) {
    const auto head = one.call->services.engine.reader().head(one.call->ref(one.id));
    if (!head) continue;
    known.push_back(one);
    all->tasks.push_back(std::make_shared<Watched>(call, std::move(one), head->key));
  }
  call->open(
      [call, all, known = std::move(known)] {
        if (call->request.is_modern) call->add(acknowledgement(*call, known, all->list != nullptr));
        if (all->list) all->list->begin();
        for (const auto& watched : all->tasks) watched->begin();
      },
      all);
}

}  // namespace baton::server::mcp
