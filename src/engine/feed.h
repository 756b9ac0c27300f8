// Feed: notifies subscribers when a task's log grows, and caches the newest events of active tasks and tasks
// with readers, so that readers need not go to the disk. A task whose only subscribers wait for its stop has
// no cached events.
//
// Each reader holds its own position in the log. It subscribes, reads with `after`, and reads the store where
// the cache has a gap; each notification means: read again. Nothing is queued per reader, so a slow one costs
// nothing.
//
// Threads: every method may be called from any thread. Callbacks run on the publishing thread (the store's
// flushing thread), outside the lock; they must not block. A callback may still run once after its
// subscription was dropped.
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

// The status with which a task stopped: ended, or waiting for its caller.
struct Stop {
  task::State state = task::State::completed;
  task::EventNumber number;
};

class Feed {
 public:
  using News = std::function<void()>;
  using OnStop = std::function<void(Stop)>;

  // Unsubscribes when destroyed.
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

  // The cached events of a task after some number.
  struct Tail {
    bool known = false;  // false: read the store
    std::vector<task::EventPtr> events;
  };

  Subscription subscribe(task::TaskKey task, News news);

  // Calls `on_stop` once, at the first stop after event `after`. Misses stops published before this call:
  // call it from the commit callback, or check the head afterwards.
  Subscription on_stop(task::TaskKey task, task::EventNumber after, OnStop on_stop);

  Tail after(task::TaskKey task, task::EventNumber number, std::size_t max) const;

  void publish(const task::TaskHead& head, const std::vector<task::EventPtr>& events);

  // Whether the task has a subscriber: a stream, or a reply that waits for it to stop.
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
    std::size_t idle = 0;  // entries without subscribers
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
