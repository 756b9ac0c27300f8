#include "engine/live/live_tasks.h"

#include <algorithm>
#include <utility>

#include "engine/live/conversation_key.h"

namespace baton::engine {
namespace {

constexpr std::size_t kWholeEventsMax = 64;
constexpr std::size_t kTailEventsMax = 128;
constexpr std::size_t kTailBytesMax = 256 << 10;
// The bytes of all tails together. Past it no further tail is kept, and readers go to the store.
constexpr std::size_t kTailsBytesMax = 256 << 20;
// The inverse of the largest share of the space for young logs that one log may take.
constexpr std::size_t kLargestShare = 2;
// Bytes of a young task besides its content.
constexpr std::size_t kTaskBytes = 1'024;
// Keys without a log that may remain in `young` before it is cleaned up.
constexpr std::size_t kGoneMax = 1'024;

// Ids are nearly always distinct; agent and caller matter only for ids that callers choose.
std::size_t name_of(const task::AgentName& agent, const task::Caller& caller, const task::TaskId& id) {
  const std::hash<std::string> hash;
  return hash(id.value) * 31 + hash(caller.value) * 7 + hash(agent.value);
}

std::size_t name_of(const task::TaskHead& head) {
  return name_of(head.agent, head.caller, head.id);
}

std::size_t bytes_of(const task::EventPtr& event) {
  return task::weight_of(event->body) + sizeof *event;
}

std::size_t bytes_of(const std::optional<task::RequestData>& request) {
  if (!request) return 0;
  std::size_t bytes = request->metadata.text.size() + request->tools.text.size() +
                      request->client_state.text.size() + task::weight_of(request->extensions) +
                      task::weight_of(request->hops);
  if (request->history) {
    for (const task::Message& message : *request->history) bytes += task::weight_of(message);
  }
  return bytes;
}

std::shared_ptr<LiveLog> first_log(const store::Committed& committed, const task::Json& metadata) {
  auto log = std::make_shared<LiveLog>();
  log->head = committed.head;
  log->metadata = metadata;
  log->events.add(committed.events);
  log->alone = committed.new_context;
  log->whole = true;
  return log;
}

}  // namespace

LiveTasks::Subscription& LiveTasks::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  if (live_) live_->remove(task_, id_);
  live_ = std::exchange(other.live_, nullptr);
  task_ = other.task_;
  id_ = other.id_;
  return *this;
}

LiveTasks::Subscription::~Subscription() {
  if (live_) live_->remove(task_, id_);
}

// Sets `follows` if the other nodes must be asked to report changes of the task. That is unnecessary while
// its log is here or this node changes it: then the task is not another node's, or the publishing of a change
// notices it.
std::uint64_t LiveTasks::add(State& state, task::TaskKey task, Subscriber subscriber,
                             std::optional<store::Grown>& follows) const {
  Live& live = state.tasks[task];
  ++state.subscriptions;
  if (subscriber.news) ++live.readers;
  live.subscribers.emplace(state.next_id, std::move(subscriber));
  if (!live.log && live.changing == 0 && asks_for(live)) follows = {task, live.heard};
  return state.next_id++;
}

LiveTasks::Subscription LiveTasks::subscribe(task::TaskKey task, News news) {
  Subscriber subscriber;
  subscriber.news = std::make_shared<News>(std::move(news));
  Subscription subscription;
  subscription.live_ = this;
  subscription.task_ = task;
  std::optional<store::Grown> follows;
  std::vector<std::shared_ptr<News>> told;
  subscription.id_ = state_.with([&](State& state) {
    if (is_conversation(task)) ++state.conversations;
    const std::uint64_t id = add(state, task, std::move(subscriber), follows);
    const Live& live = state.tasks.at(task);
    if (live.readers == 1) {
      for (const auto& [waiting, on_reader] : live.await_readers) told.push_back(on_reader);
    }
    return id;
  });
  if (follows) sharing_->follow(*follows);
  for (const auto& on_reader : told) (*on_reader)();
  return subscription;
}

LiveTasks::Subscription LiveTasks::await_readers(task::TaskKey task, News on_reader) {
  auto shared = std::make_shared<News>(std::move(on_reader));
  Subscription subscription;
  subscription.live_ = this;
  subscription.task_ = task;
  subscription.id_ = state_.with([&](State& state) {
    state.tasks[task].await_readers.emplace(state.next_id, std::move(shared));
    return state.next_id++;
  });
  return subscription;
}

bool LiveTasks::has_readers(task::TaskKey task) const {
  return state_.with([&](const State& state) {
    const auto found = state.tasks.find(task);
    return found != state.tasks.end() && found->second.readers > 0;
  });
}

void LiveTasks::drop(State& state, Live& live, Subscribers::iterator subscriber) {
  if (subscriber->second.news) --live.readers;
  live.subscribers.erase(subscriber);
  if (live.subscribers.empty()) live.is_asked_for = false;
  --state.subscriptions;
}

void LiveTasks::remove(task::TaskKey task, std::uint64_t id) {
  std::shared_ptr<News> dropped;  // destroyed outside the lock: it may own much
  LiveLogPtr log;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(task);
    if (entry == state.tasks.end()) return;
    Live& live = entry->second;
    if (auto waiting = live.await_readers.extract(id)) {
      dropped = std::move(waiting.mapped());
      return drop_if_idle(state, entry);
    }
    const auto found = live.subscribers.find(id);
    if (found == live.subscribers.end()) return;
    dropped = found->second.news;
    drop(state, live, found);
    if (is_conversation(task)) --state.conversations;
    if (live.readers == 0 && live.log && !live.log->whole) log = drop_log(state, task, live);
    drop_if_idle(state, entry);
  });
}

// Returns the log, to be destroyed outside the lock.
LiveLogPtr LiveTasks::drop_log(State& state, task::TaskKey task, Live& live) {
  LiveLogPtr log = std::exchange(live.log, nullptr);
  if (!log) return log;
  (log->whole ? state.young_bytes : state.tail_bytes) -= std::exchange(live.bytes, 0);
  if (!log->whole) return log;
  const auto named = state.by_name.find(name_of(log->head));
  if (named != state.by_name.end() && named->second == task) state.by_name.erase(named);
  const auto alone = state.alone.find(log->head.context_key);
  if (alone != state.alone.end() && alone->second == task) state.alone.erase(alone);
  return log;
}

bool LiveTasks::is_idle(const Live& live) {
  return !live.log && live.subscribers.empty() && live.await_readers.empty() && live.changing == 0;
}

void LiveTasks::drop_if_idle(State& state, Entries::iterator entry) {
  if (is_idle(entry->second)) state.tasks.erase(entry);
}

LiveLogPtr LiveTasks::log(task::TaskKey task) const {
  return state_.with([&](const State& state) {
    const auto found = state.tasks.find(task);
    return found == state.tasks.end() ? LiveLogPtr() : found->second.log;
  });
}

LiveLogPtr LiveTasks::log(const task::TaskRef& ref) const {
  const std::size_t name = name_of(ref.agent, ref.caller, ref.id);
  const LiveLogPtr log = state_.with([&](const State& state) {
    const auto named = state.by_name.find(name);
    return named == state.by_name.end() ? LiveLogPtr() : state.tasks.at(named->second).log;
  });
  const bool is_it =
      log && log->head.id == ref.id && log->head.caller == ref.caller && log->head.agent == ref.agent;
  return is_it ? log : nullptr;
}

LiveLogPtr LiveTasks::alone_in(task::ContextKey context) const {
  return state_.with([&](const State& state) {
    const auto alone = state.alone.find(context);
    return alone == state.alone.end() ? LiveLogPtr() : state.tasks.at(alone->second).log;
  });
}

bool LiveTasks::is_followed(task::TaskKey task) const {
  return state_.with([&](const State& state) {
    const auto found = state.tasks.find(task);
    return found != state.tasks.end() && !found->second.subscribers.empty();
  });
}

void LiveTasks::changing(task::TaskKey task) {
  state_.with([&](State& state) { ++state.tasks[task].changing; });
}

void LiveTasks::unchanged(task::TaskKey task) {
  std::vector<std::function<void()>> after;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(task);
    --entry->second.changing;
    after.swap(entry->second.after);
    drop_if_idle(state, entry);
  });
  for (const auto& then : after) then();
}

bool LiveTasks::after_change(task::TaskKey task, std::function<void()> then) {
  return state_.with([&](State& state) {
    const auto found = state.tasks.find(task);
    if (found == state.tasks.end() || found->second.changing == 0) return false;
    found->second.after.push_back(std::move(then));
    return true;
  });
}

bool LiveTasks::is_changing(task::TaskKey task) const {
  return state_.with([&](const State& state) {
    const auto found = state.tasks.find(task);
    return found != state.tasks.end() && found->second.changing > 0;
  });
}

// Returns the log with the change's events added. Null if the task has no log that they continue, and no
// reader.
std::shared_ptr<LiveLog> LiveTasks::next_log(const Live& live, const store::Committed& committed) {
  const auto before = committed.head.last_event.value - static_cast<std::int64_t>(committed.events.size());
  const bool follows = live.log && live.log->head.last_event.value == before;
  if (!follows && live.readers == 0) return nullptr;
  auto log = follows ? std::make_shared<LiveLog>(*live.log) : std::make_shared<LiveLog>();
  log->head = committed.head;
  log->events.add(committed.events);
  return log;
}

// Keeps the log, or as much of it as there is room for. It is the one kept so far with `added` bytes of
// events, or a new one; `others`: the bytes of what came with these events.
void LiveTasks::keep(State& state, Live& live, std::shared_ptr<LiveLog> log, std::size_t added,
                     std::size_t others, Dropped& dropped) const {
  const task::TaskKey task = log->head.key;
  const std::size_t more = added + others;
  std::size_t bytes = live.bytes + more;
  const bool stays_whole =
      log->whole && log->events.size() <= kWholeEventsMax && bytes <= young_bytes_max_ / kLargestShare;
  if (stays_whole) {
    state.young_bytes += more;
    live.bytes = bytes;
    dropped.push_back(std::exchange(live.log, std::move(log)));
    return make_room(state, dropped);
  }
  bytes = added;
  if (log->whole) {  // its other bytes are counted too
    bytes = 0;
    for (const task::EventPtr& event : log->events) bytes += bytes_of(event);
  } else if (live.log && log->events.begins_like(live.log->events)) {
    bytes += live.bytes;
  }
  if (log->events.hidden() == 0) live.hidden = 0;
  dropped.push_back(drop_log(state, task, live));
  if (live.readers == 0) return;
  log->whole = false;
  log->requests.clear();
  while (!log->events.empty() && (log->events.size() > kTailEventsMax || bytes > kTailBytesMax)) {
    const std::size_t one = bytes_of(log->events.front());
    bytes -= one;
    log->events.drop_front();
    live.hidden = log->events.hidden() == 0 ? 0 : live.hidden + one;
  }
  if (live.hidden > kTailBytesMax) {
    log->events.compact();
    live.hidden = 0;
  }
  if (state.tail_bytes + bytes > kTailsBytesMax) return;
  state.tail_bytes += live.bytes = bytes;
  live.log = std::move(log);
}

// Drops the oldest young logs.
void LiveTasks::make_room(State& state, Dropped& dropped) const {
  while (state.young_bytes > young_bytes_max_ && !state.young.empty()) {
    const auto oldest = state.tasks.find(state.young.front());
    state.young.pop_front();
    if (oldest == state.tasks.end() || !oldest->second.log || !oldest->second.log->whole) continue;
    dropped.push_back(drop_log(state, oldest->first, oldest->second));
    drop_if_idle(state, oldest);
  }
  const bool mostly_gone = state.young.size() > 2 * state.by_name.size() + kGoneMax;
  if (!mostly_gone) return;
  std::erase_if(state.young, [&](task::TaskKey key) {
    const auto found = state.tasks.find(key);
    return found == state.tasks.end() || !found->second.log || !found->second.log->whole;
  });
}

void LiveTasks::publish(const store::Committed& committed, std::optional<task::RequestData> request,
                        const task::Json* metadata) {
  if (listener_) listener_(committed);
  const task::TaskHead& head = committed.head;
  std::size_t added = 0, others = bytes_of(request);
  for (const task::EventPtr& event : committed.events) added += bytes_of(event);
  std::shared_ptr<LiveLog> fresh;
  if (metadata != nullptr) {
    others += metadata->text.size() + kTaskBytes;
    fresh = first_log(committed, *metadata);
  }
  std::vector<std::shared_ptr<News>> news;
  std::vector<std::pair<OnStop, Stop>> stops;
  std::vector<std::function<void()>> after;
  std::vector<Looking> looking;
  std::optional<store::Grown> follows;
  Dropped dropped;
  state_.with([&](State& state) {
    if (state.conversations > 0 && is_news_of_conversation(committed))
      add_conversation_news(state, head, news);
    const auto entry = state.tasks.find(head.key);
    Live& live = entry->second;
    --live.changing;
    live.heard = std::max(live.heard, head.last_event);
    after.swap(live.after);
    auto log = fresh ? fresh : next_log(live, committed);
    // A later change by another node was reported first.
    if (head.last_event < live.heard) log = nullptr;
    if (fresh) state.alone.erase(head.context_key);
    if (log && log->whole) log->add_request(committed, std::move(request));
    for (auto one = live.subscribers.begin(); one != live.subscribers.end();) {
      const auto at = one++;
      Subscriber& subscriber = at->second;
      if (subscriber.news && !committed.events.empty()) news.push_back(subscriber.news);
      if (!subscriber.on_stop) continue;
      if (note_stop(subscriber, committed))
        looking.push_back({{head.key, at->first, false}, subscriber.after});
      if (!subscriber.later || subscriber.looks > 0) continue;
      stops.emplace_back(std::move(subscriber.on_stop), *subscriber.later);
      drop(state, live, at);
    }
    const bool is_elsewhere = sharing_ && committed.owner && committed.owner != sharing_->self;
    if (is_elsewhere && asks_for(live)) follows = {head.key, live.heard};
    if (log) {
      keep(state, live, std::move(log), added, others, dropped);
    } else {
      dropped.push_back(drop_log(state, head.key, live));  // it has a gap now
    }
    if (fresh && live.log && live.log->whole) {
      if (fresh->alone) state.alone.emplace(head.context_key, head.key);
      state.by_name.insert_or_assign(name_of(head), head.key);
      state.young.push_back(head.key);
    }
    const auto again = state.tasks.find(head.key);  // making room may have dropped it
    if (again != state.tasks.end()) drop_if_idle(state, again);
  });
  for (const auto& wake : news) (*wake)();
  for (const auto& [on_stop, stop] : stops) on_stop(stop);
  for (const Looking& one : looking) sharing_->look(one);
  if (follows) sharing_->follow(*follows);
  for (const auto& then : after) then();
}

void LiveTasks::add_conversation_news(const State& state, const task::TaskHead& head,
                                      std::vector<std::shared_ptr<News>>& news) {
  const auto followed = state.tasks.find(conversation_key(head));
  if (followed == state.tasks.end()) return;
  for (const auto& [id, subscriber] : followed->second.subscribers) news.push_back(subscriber.news);
}

void LiveTasks::forget(task::TaskKey task) {
  LiveLogPtr log;
  std::vector<std::shared_ptr<News>> news;
  std::vector<OnStop> waits;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(task);
    if (entry == state.tasks.end()) return;
    Live& live = entry->second;
    log = drop_log(state, task, live);
    for (auto one = live.subscribers.begin(); one != live.subscribers.end();) {
      const auto at = one++;
      if (at->second.news) news.push_back(at->second.news);
      if (!at->second.on_stop) continue;
      waits.push_back(std::move(at->second.on_stop));
      drop(state, live, at);
    }
    drop_if_idle(state, entry);
  });
  for (const auto& wake : news) (*wake)();
  for (const OnStop& on_stop : waits) on_stop(std::nullopt);
}

LiveTasks::Counts LiveTasks::counts() const {
  return state_.with([](const State& state) { return Counts{state.tasks.size(), state.subscriptions}; });
}

// Waits for a task to stop.

LiveTasks::Wait LiveTasks::await_stop(task::TaskKey task, task::EventNumber after,
                                      base::SteadyTime::time_point deadline, OnStop on_stop) {
  std::optional<Stop> stop;
  std::optional<store::Grown> follows;
  const Wait wait = state_.with([&](State& state) {
    const auto found = state.tasks.find(task);
    const LiveLog* log = found == state.tasks.end() ? nullptr : found->second.log.get();
    const bool knows_past = log != nullptr && log->covers(after);
    if (knows_past) stop = log->stop_after(after);
    if (stop || !state.takes_waits) return Wait{task, 0, true};
    Subscriber subscriber;
    subscriber.on_stop = std::move(on_stop);
    subscriber.after = after;
    subscriber.deadline = deadline;
    subscriber.looks = knows_past ? 0 : 1;
    if (knows_past) subscriber.known = log->head.last_event;
    return Wait{task, add(state, task, std::move(subscriber), follows), knows_past};
  });
  if (follows) sharing_->follow(*follows);
  if (wait.id == 0) on_stop(stop);
  return wait;
}

void LiveTasks::resolve_past(const Wait& wait, std::optional<Stop> first) {
  OnStop on_stop;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(wait.task);
    if (entry == state.tasks.end()) return;
    const auto found = entry->second.subscribers.find(wait.id);
    if (found == entry->second.subscribers.end()) return;
    const bool is_last = --found->second.looks == 0;
    if (!first && is_last) first = found->second.later;
    if (!first) return;
    on_stop = std::move(found->second.on_stop);
    drop(state, entry->second, found);
    drop_if_idle(state, entry);
  });
  if (on_stop) on_stop(first);
}

// Records the change's first stop for a wait. Returns whether another node has added events before the
// change: then the store must be searched for an earlier stop.
bool LiveTasks::note_stop(Subscriber& subscriber, const store::Committed& committed) const {
  const task::EventNumber last = committed.head.last_event;
  const auto before = last.value - static_cast<std::int64_t>(committed.events.size());
  const bool looks = sharing_ && subscriber.known.value < before;
  if (looks) ++subscriber.looks;
  subscriber.known = std::max(subscriber.known, last);
  if (!subscriber.later) subscriber.later = first_stop(committed.events, subscriber.after);
  return looks;
}

std::optional<base::SteadyTime::time_point> LiveTasks::expire_waits(base::SteadyTime::time_point now) {
  std::vector<OnStop> overdue;
  std::optional<base::SteadyTime::time_point> next;
  state_.with([&](State& state) {
    for (auto entry = state.tasks.begin(); entry != state.tasks.end(); drop_if_idle(state, entry++)) {
      Live& live = entry->second;
      for (auto one = live.subscribers.begin(); one != live.subscribers.end();) {
        const auto at = one++;
        if (!at->second.on_stop) continue;
        const auto deadline = at->second.deadline;
        if (deadline > now) {
          next = next ? std::min(*next, deadline) : deadline;
        } else {
          overdue.push_back(std::move(at->second.on_stop));
          drop(state, live, at);
        }
      }
    }
  });
  for (const OnStop& on_stop : overdue) on_stop(std::nullopt);
  return next;
}

void LiveTasks::end_waits() {
  state_.with([](State& state) { state.takes_waits = false; });
  expire_waits(base::SteadyTime::time_point::max());
}

// Tasks that other nodes change.

// Returns true if the other nodes must be asked to report changes of the task, and records that they have
// been.
bool LiveTasks::asks_for(Live& live) const {
  return sharing_ && !live.subscribers.empty() && !std::exchange(live.is_asked_for, true);
}

std::vector<LiveTasks::Looking> LiveTasks::changed_elsewhere(task::TaskKey task, task::EventNumber last) {
  LiveLogPtr dropped;
  std::vector<std::shared_ptr<News>> news;
  std::vector<Looking> looking;
  std::optional<store::Grown> follows;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(task);
    if (entry == state.tasks.end()) return;
    Live& live = entry->second;
    if (asks_for(live)) follows = {task, std::max(live.heard, last)};
    if (live.log && live.log->head.last_event < last) dropped = drop_log(state, task, live);
    // Nodes do not count the changes of a conversation: each notification is news.
    if (live.heard < last || is_conversation(task)) {
      live.heard = std::max(live.heard, last);
      for (auto& [id, subscriber] : live.subscribers) {
        if (subscriber.news) news.push_back(subscriber.news);
        if (!subscriber.on_stop) continue;
        ++subscriber.looks;
        subscriber.known = std::max(subscriber.known, last);
        looking.push_back({{task, id, false}, subscriber.after});
      }
    }
    drop_if_idle(state, entry);
  });
  if (follows) sharing_->follow(*follows);
  for (const auto& wake : news) (*wake)();
  return looking;
}

void LiveTasks::forget_logs() {
  Dropped dropped;
  state_.with([&](State& state) {
    for (auto entry = state.tasks.begin(); entry != state.tasks.end();) {
      const auto at = entry++;
      dropped.push_back(drop_log(state, at->first, at->second));
      drop_if_idle(state, at);
    }
  });
}

std::vector<store::Grown> LiveTasks::followed() const {
  return state_.with([](const State& state) {
    std::vector<store::Grown> all;
    for (const auto& [task, live] : state.tasks) {
      if (!live.subscribers.empty()) all.push_back({task, live.heard});
    }
    return all;
  });
}

}  // namespace baton::engine
