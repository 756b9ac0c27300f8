#include "engine/feed.h"

#include <algorithm>
#include <utility>

namespace baton::engine {
namespace {

constexpr std::size_t kTailEventsMax = 128;
constexpr std::size_t kTailBytesMax = 256 << 10;
// Active tasks without subscribers are cached too, because most get one a moment later; but not all of them.
constexpr std::size_t kIdleEntriesMax = 4096;
// Of all tails together; past it no event is cached and readers go to the store.
constexpr std::size_t kBytesMax = 256 << 20;

// The first stop among these events past `after`.
std::optional<Stop> first_stop(const std::vector<task::EventPtr>& events, task::EventNumber after) {
  for (const task::EventPtr& event : events) {
    const task::StatusChanged* change = task::status_in(*event);
    if (change && event->number > after && task::is_stopped(change->status.state)) {
      return Stop{change->status.state, event->number};
    }
  }
  return std::nullopt;
}

}  // namespace

Feed::Subscription& Feed::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  if (feed_) feed_->remove(task_, id_);
  feed_ = std::exchange(other.feed_, nullptr);
  task_ = other.task_;
  id_ = other.id_;
  return *this;
}

Feed::Subscription::~Subscription() {
  if (feed_) feed_->remove(task_, id_);
}

Feed::Subscription Feed::add(task::TaskKey task, Subscriber subscriber) {
  std::vector<task::EventPtr> dropped;
  Subscription subscription;
  subscription.feed_ = this;
  subscription.task_ = task;
  subscription.id_ = state_.with([&](State& state) {
    const auto [entry, fresh] = state.tasks.try_emplace(task);
    if (!fresh && entry->second.subscribers.empty()) --state.idle;
    ++state.subscriptions;
    const std::uint64_t id = state.next_id++;
    entry->second.subscribers.emplace(id, std::move(subscriber));
    if (!is_remembered(entry->second)) dropped = drop_tail(state, entry->second);
    return id;
  });
  return subscription;
}

Feed::Subscription Feed::subscribe(task::TaskKey task, News news) {
  return add(task, {std::make_shared<News>(std::move(news)), nullptr, {}});
}

Feed::Subscription Feed::on_stop(task::TaskKey task, task::EventNumber after, OnStop on_stop) {
  return add(task, {nullptr, std::make_shared<OnStop>(std::move(on_stop)), after});
}

void Feed::remove(task::TaskKey task, std::uint64_t id) {
  Subscriber dropped;  // destroyed outside the lock: it may own much
  std::vector<task::EventPtr> tail;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(task);
    if (entry == state.tasks.end()) return;
    const auto found = entry->second.subscribers.find(id);
    if (found == entry->second.subscribers.end()) return;
    dropped = std::move(found->second);
    entry->second.subscribers.erase(found);
    --state.subscriptions;
    if (!is_remembered(entry->second)) tail = drop_tail(state, entry->second);
    if (!entry->second.subscribers.empty()) return;
    if (entry->second.active && state.idle < kIdleEntriesMax) {
      ++state.idle;
    } else {
      erase(state, entry);
    }
  });
}

Feed::Tail Feed::after(task::TaskKey task, task::EventNumber number, std::size_t max) const {
  return state_.with([&](const State& state) {
    Tail result;
    const auto found = state.tasks.find(task);
    if (found == state.tasks.end() || found->second.tail.empty()) return result;
    const std::vector<task::EventPtr>& tail = found->second.tail;
    if (tail.front()->number.value > number.value + 1) return result;
    result.known = true;
    const std::int64_t skip = number.value + 1 - tail.front()->number.value;
    for (auto i = static_cast<std::size_t>(skip); i < tail.size() && result.events.size() < max; ++i) {
      result.events.push_back(tail[i]);
    }
    return result;
  });
}

// Whether the task has a reader, or has no subscriber yet and may get a reader in a moment.
bool Feed::is_remembered(const Entry& entry) {
  const auto reads = [](const auto& subscriber) { return subscriber.second.news != nullptr; };
  return entry.subscribers.empty() || std::ranges::any_of(entry.subscribers, reads);
}

// Returns the events, for the caller to destroy outside the lock.
std::vector<task::EventPtr> Feed::drop_tail(State& state, Entry& entry) {
  state.bytes -= std::exchange(entry.tail_bytes, 0);
  return std::exchange(entry.tail, {});
}

void Feed::extend(State& state, Entry& entry, const std::vector<task::EventPtr>& events) {
  const std::size_t before = entry.tail_bytes;
  for (const task::EventPtr& event : events) {
    entry.tail.push_back(event);
    entry.tail_bytes += task::weight_of(event->body);
  }
  const bool all_full = state.bytes - before + entry.tail_bytes > kBytesMax;
  std::size_t dropped = 0;
  while (dropped < entry.tail.size() &&
         (all_full || entry.tail.size() - dropped > kTailEventsMax || entry.tail_bytes > kTailBytesMax)) {
    entry.tail_bytes -= task::weight_of(entry.tail[dropped++]->body);
  }
  entry.tail.erase(entry.tail.begin(), entry.tail.begin() + static_cast<std::ptrdiff_t>(dropped));
  state.bytes = state.bytes - before + entry.tail_bytes;
}

void Feed::erase(State& state, Entries::iterator entry) {
  state.bytes -= entry->second.tail_bytes;
  state.tasks.erase(entry);
}

void Feed::publish(const task::TaskHead& head, const std::vector<task::EventPtr>& events) {
  if (events.empty()) return;
  std::vector<std::shared_ptr<News>> news;
  std::vector<std::pair<std::shared_ptr<OnStop>, Stop>> stops;
  state_.with([&](State& state) {
    const bool active = !task::is_stopped(head.state);
    auto found = state.tasks.find(head.key);
    if (found == state.tasks.end()) {
      if (!active || state.idle >= kIdleEntriesMax) return;
      found = state.tasks.try_emplace(head.key).first;
      ++state.idle;
    }
    Entry& entry = found->second;
    entry.active = active;
    // Otherwise there is no tail: it was dropped with the last reader.
    if (is_remembered(entry)) extend(state, entry, events);
    for (auto& [id, subscriber] : entry.subscribers) {
      if (subscriber.news) {
        news.push_back(subscriber.news);
      } else if (subscriber.on_stop) {
        if (const auto stop = first_stop(events, subscriber.after)) {
          stops.emplace_back(std::move(subscriber.on_stop), *stop);
        }
      }
    }
    if (entry.subscribers.empty() && !active) {
      erase(state, found);
      --state.idle;
    }
  });
  for (const auto& wake : news) (*wake)();
  for (const auto& [callback, stop] : stops) (*callback)(stop);
}

bool Feed::is_followed(task::TaskKey task) const {
  return state_.with([&](const State& state) {
    const auto found = state.tasks.find(task);
    return found != state.tasks.end() && !found->second.subscribers.empty();
  });
}

Feed::Counts Feed::counts() const {
  return state_.with([](const State& state) { return Counts{state.tasks.size(), state.subscriptions}; });
}

}  // namespace baton::engine
