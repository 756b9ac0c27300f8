#include "server/mcp/listen.h"

#include <algorithm>
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

  void read_soon() {
    const auto self = weak_from_this();
    const auto read = [self] {
      if (const auto watched = self.lock()) watched->read();
    };
    const Services& services = heard_.call->services;
    if (!stream_->is_behind() && services.readers.try_submit(read)) return;
    services.engine.after(kReadAgain, [self] {
      if (const auto watched = self.lock()) watched->read_soon();
    });
  }

  void read() {
    const task::EventNumber told = state_.with([](State& now) {
      now.has_news = false;
      return now.told;
    });
    const auto head = heard_.call->services.engine.reader().head(key_);
    if (!head || head->status_event <= told) return done({});
    read_shown(heard_.call, *head,
               [self = shared_from_this(), head = *head](const base::Result<task::Task>& task) {
                 if (task) self->tell(head, *task);
                 self->done(task ? head.status_event : task::EventNumber{});
               });
  }

  void tell(const task::TaskHead& head, const task::Task& task) const {
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/tasks");
      out.key("params").object([&] {
        write_detailed(out, heard_.call, head, task);
        write_subscription(out, *stream_);
      });
    });
    stream_->add(body);
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

std::string acknowledgement(const McpCall& stream, const std::vector<Heard>& tasks) {
  std::string body;
  Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0").member("method", "notifications/subscriptions/acknowledged");
    out.key("params").object([&] {
      out.key("notifications").object([&] {
        if (tasks.empty()) return;
        out.key("taskIds").each(tasks, [&](const Heard& one) { out.string(one.id.value); });
      });
      write_subscription(out, stream);
    });
  });
  return body;
}

}  // namespace

void listen(const McpCallPtr& call, std::vector<Heard> tasks) {
  call->hold = call->services.options.streams.acquire(call->identity);
  if (!call->hold) {
    return call->refuse({base::ErrorCode::overloaded,
                         "too many of this caller's streams are open; close one or try again later",
                         {}});
  }
  using All = std::vector<std::shared_ptr<Watched>>;
  auto all = std::make_shared<All>();
  std::vector<Heard> known;
  for (Heard& one : tasks) {
    const auto head = one.call->services.engine.reader().head(one.call->ref(one.id));
    if (!head) continue;
    known.push_back(one);
    all->push_back(std::make_shared<Watched>(call, std::move(one), head->key));
  }
  call->open(
      [call, all, known = std::move(known)] {
        call->add(acknowledgement(*call, known));
        for (const auto& watched : *all) watched->begin();
      },
      all);
}

}  // namespace baton::server::mcp
