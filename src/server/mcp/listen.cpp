#include "server/mcp/listen.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "base/exception_report.h"
#include "base/guarded.h"
#include "server/mcp/handles.h"

namespace baton::server::mcp {
namespace {

using json::Writer;
using std::chrono::milliseconds;

// The pause before a read that found no place or memory is tried again.
constexpr milliseconds kReadAgain{1'000};

// One task of a stream.
struct Watched {
  Heard heard;
  task::TaskKey key;
  task::EventNumber told = {};  // the status that was sent last
  engine::LiveTasks::Subscription subscription = {};
};

// The tasks, and the list of tools, whose changes a stream tells. The stream holds it; callbacks hold it only
// while they run.
//
// It reads one of them at a time, and none while many of its messages wait for the client. So a stream takes
// one of the readers' places, and the memory of one task, however many tasks have news.
class Listening : public std::enable_shared_from_this<Listening> {
 public:
  Listening(McpCallPtr stream, std::vector<Watched> tasks, std::optional<HeardList> list)
      : stream_(std::move(stream)), list_(std::move(list)), tasks_(std::move(tasks)) {
    if (list_) list_told_ = list_now();
    state_.with([&](State& now) { now.news.reserve(tasks_.size() + 1); });
  }

  void begin() {
    if (stream_->request.is_modern) stream_->add(acknowledgement());
    if (list_) {
      list_changes_ = list_->changes.add(news_at(list_place()));
      news(list_place());  // it may have changed since it was read first
    }
    for (std::size_t place = 0; place < tasks_.size(); ++place) {
      Watched& one = tasks_[place];
      one.subscription = stream_->services.engine.live().subscribe(one.key, news_at(place));
      news(place);
    }
  }

 private:
  struct State {
    bool reads = false;
    std::vector<std::size_t> news;  // the places in `tasks_` to read, each once; has room for all
  };

  // The list of tools comes after the tasks.
  std::size_t list_place() const { return tasks_.size(); }
  std::size_t list_now() const { return std::hash<std::string>()(list_->read()); }

  // A callback that does nothing once the stream has ended.
  template <class F>
  std::function<void()> unless_over(F run) {
    return [self = weak_from_this(), run] {
      if (const auto one = self.lock()) run(*one);
    };
  }
  std::function<void()> news_at(std::size_t place) {
    return unless_over([place](Listening& one) { one.news(place); });
  }

  void news(std::size_t place) {
    const bool begins = state_.with([&](State& now) {
      if (std::ranges::find(now.news, place) == now.news.end()) now.news.push_back(place);
      return !std::exchange(now.reads, true);
    });
    if (begins) read_soon();
  }

  void read_soon() {
    stream_->when_read(unless_over([](Listening& one) { one.submit(); }));
  }

  void submit() {
    if (stream_->services.readers.try_submit(unless_over([](Listening& one) { one.read(); }))) return;
    stream_->services.engine.after(kReadAgain, unless_over([](Listening& one) { one.submit(); }));
  }

  void read() {
    const std::size_t place = state_.with([](State& now) {
      const std::size_t first = now.news.front();
      now.news.erase(now.news.begin());
      return first;
    });
    going_on([&] {
      if (place != list_place()) return read(place);
      look();
      next();
    });
  }

  // Runs `work`, which ends with `next`. If it fails for lack of memory, the other changes are still told.
  template <class F>
  void going_on(const F& work) {
    try {
      return work();
    } catch (const std::exception& error) {
      base::report_exception("log-read", error.what());
    }
    next();
  }

  void next() {
    const bool goes_on = state_.with([](State& now) { return now.reads = !now.news.empty(); });
    if (goes_on) read_soon();
  }

  void look() {
    const std::size_t read = list_now();
    if (std::exchange(list_told_, read) == read) return;
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/tools/list_changed");
      if (stream_->request.is_modern) out.key("params").object([&] { write_subscription(out); });
    });
    stream_->add(std::move(body));
  }

  void read(std::size_t place) {
    Watched& one = tasks_[place];
    const auto head = one.heard.call->services.engine.reader().head(one.key);
    if (!head) read_later(place, head.error());
    if (!head || head->status_event <= one.told) return next();
    read_shown(one.heard.call, *head,
               [self = shared_from_this(), &one, place, head = *head](const base::Result<task::Task>& task) {
                 self->going_on([&] {
                   // Not kept with the call, which lasts as long as the stream.
                   AnswerBudget::SharePtr part = std::move(one.heard.call->share);
                   task ? self->tell(one, head, *task, std::move(part))
                        : self->read_later(place, task.error());
                   self->next();
                 });
               });
  }

  // Tries a failed read again later if it may succeed then, because there may be no other news of the task.
  void read_later(std::size_t place, const base::Error& error) {
    using base::ErrorCode;
    if (error.code != ErrorCode::overloaded && error.code != ErrorCode::unavailable) return;
    stream_->services.engine.after(kReadAgain, news_at(place));
  }

  void tell(Watched& one, const task::TaskHead& head, const task::Task& task, AnswerBudget::SharePtr part) {
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/tasks");
      out.key("params").object([&] {
        write_detailed(out, one.heard.call, head, task);
        write_subscription(out);
      });
    });
    stream_->add(std::move(body), {}, std::move(part));
    one.told = head.status_event;
  }

  std::string acknowledgement() const {
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/subscriptions/acknowledged");
      out.key("params").object([&] {
        out.key("notifications").object([&] {
          if (list_) out.member("toolsListChanged", true);
          if (tasks_.empty()) return;
          out.key("taskIds").each(tasks_, [&](const Watched& one) { out.string(one.heard.id.value); });
        });
        write_subscription(out);
      });
    });
    return body;
  }

  void write_subscription(Writer& out) const {
    out.key("_meta").object(
        [&] { out.key("io.modelcontextprotocol/subscriptionId").raw(stream_->request.id); });
  }

  const McpCallPtr stream_;
  const std::optional<HeardList> list_;
  base::Guarded<State> state_;
  // Used by one read at a time.
  std::size_t list_told_ = 0;  // of the list that the client has, or has heard of
  std::vector<Watched> tasks_;
  ListChanges::Hold list_changes_;
};

}  // namespace

void listen(const McpCallPtr& call, const std::function<std::vector<Heard>()>& find,
            std::optional<HeardList> list) {
  call->hold = call->services.options.streams.acquire(call->identity);
  if (!call->hold) {
    return call->refuse({base::ErrorCode::overloaded,
                         "too many of this caller's streams are open; close one or try again later",
                         {}});
  }
  std::vector<Watched> known;
  for (Heard& one : find()) {
    const auto head = one.call->services.engine.reader().head(one.call->ref(one.id));
    if (head) known.push_back({std::move(one), head->key});
  }
  const auto listening = std::make_shared<Listening>(call, std::move(known), std::move(list));
  call->open([listening] { listening->begin(); }, listening);
}

}  // namespace baton::server::mcp
