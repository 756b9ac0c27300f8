// Feed: tells who is interested that a task's log has grown, and keeps the newest events of each read or
// active task in memory so that many readers need not go to the disk for them. Of a task for whose stop
// somebody waits and that nobody reads it keeps none.
//
// A reader holds its own position in the log. It subscribes, reads from `after` and, where that has a gap,
// from the store; each news means: read again. Nothing is queued for a reader, so a slow one costs nothing.
//
// Threads: every method may be called from any thread. News and stop callbacks run on the publishing thread
// (the store's flushing thread), outside the lock; they must not block. A callback may still run once after
// its subscription has been dropped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "store/task_store.h"
#include "task/event.h"

namespace baton::engine {

// Where a task came to a stop: ended, or waiting for its caller.
struct Stop {
  task::State state = task::State::completed;
  task::EventNumber number;
};

class Feed {
 public:
  using News = std::function<void()>;
  using OnStop = std::function<void(Stop)>;

  // Ends when it is destroyed.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&& other) noexcept { *this = std::move(other); }
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription();

   private:
    friend class Feed;
    Feed* feed_ = nullptr;
    task::TaskKey task_;
    std::uint64_t id_ = 0;
  };

  // What the memory has of a task's log after some number.
  struct Tail {
    bool known = false;  // false: read the store
    std::vector<task::EventPtr> events;
  };

  Subscription subscribe(task::TaskKey task, News news);

  // Calls `on_stop` once, at the first status after `after` with which the task stops. A stop that was
  // published before this call is not seen: whoever calls it from a commit callback misses none, others look
  // at the head afterwards.
  Subscription on_stop(task::TaskKey task, task::EventNumber after, OnStop on_stop);

  Tail after(task::TaskKey task, task::EventNumber number, std::size_t max) const;

  void publish(const task::TaskHead& head, const std::vector<task::EventPtr>& events);

  // Whether anybody is subscribed: a stream, or a reply that waits for the task to stop.
  bool is_followed(task::TaskKey task) const;

  struct Counts {
    std::size_t tasks = 0;
    std::size_t subscriptions = 0;
  };
  Counts counts() const;

 private:
  struct Subscriber {
    std::shared_ptr<News> news;  // or
    std::shared_ptr<OnStop> on_stop;
    task::EventNumber after;
  };
  struct Entry {
    std::vector<task::EventPtr> tail;
    std::size_t tail_bytes = 0;
    std::map<std::uint64_t, Subscriber> subscribers;  // mostly one
    bool active = false;
  };
  using Entries = std::unordered_map<task::TaskKey, Entry>;
  struct State {
    Entries tasks;
    std::size_t bytes = 0;  // of all tails
    std::uint64_t next_id = 1;
    std::size_t subscriptions = 0;
    std::size_t idle = 0;  // entries nobody is subscribed to
  };

  Subscription add(task::TaskKey task, Subscriber subscriber);
  static bool is_remembered(const Entry& entry);
  static std::vector<task::EventPtr> drop_tail(State& state, Entry& entry);
  void remove(task::TaskKey task, std::uint64_t id);
  static void extend(State& state, Entry& entry, const std::vector<task::EventPtr>& events);
  static void erase(State& state, Entries::iterator entry);

  base::Guarded<State> state_;
};

}  // namespace baton::engine
