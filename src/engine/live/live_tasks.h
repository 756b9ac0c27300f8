// LiveTasks: the durable state of tasks that are young, followed or changing, and who waits for them.
//
// Each has one immutable log: its head and newest events, replaced when a change is durable. Whoever has
// taken it reads on without a lock. It is whole for a young task, until newer ones need the room or it grows
// long; for an older one it begins with what came since somebody follows it. Readers keep their own position:
// they subscribe, read, and read the store where the log has a gap; each notification means: read again.
// Nothing is queued for a reader, so a slow one costs nothing.
//
// Threads: every method from any. Callbacks run on the thread that publishes (the flushing thread), or that
// begins or ends the wait, outside the lock; they must not block. News may still come once after their
// subscription was dropped.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "base/threads.h"
#include "engine/live/live_log.h"
#include "store/peers.h"

namespace baton::engine {

class LiveTasks {
 public:
  using News = std::function<void()>;
  // Gets nothing if the wait has ended without a stop.
  using OnStop = std::function<void(std::optional<Stop>)>;

  // `young_bytes_max`: of the logs of young tasks.
  explicit LiveTasks(std::size_t young_bytes_max = 8 << 20) : young_bytes_max_(young_bytes_max) {}

  // Unsubscribes when destroyed.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&& other) noexcept { *this = std::move(other); }
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription();

   private:
    friend class LiveTasks;
    LiveTasks* live_ = nullptr;
    task::TaskKey task_;
    std::uint64_t id_ = 0;
  };

  // Calls `news` whenever the task's log has grown.
  Subscription subscribe(task::TaskKey task, News news);

  // Calls `on_stop` once, with the first stop after event `after`: at once if it has come, so that past and
  // future are the same to the caller; or with nothing, when the wait is overdue or ended.
  struct Wait {
    task::TaskKey task;
    std::uint64_t id = 0;     // 0: it is over
    bool knows_past = false;  // false: only the store knows whether the stop has come: call tell_past
  };
  Wait await_stop(task::TaskKey task, task::EventNumber after, base::SteadyTime::time_point deadline,
                  OnStop on_stop);
  // `first`: the first stop after `after` that the store had once the wait had begun, or none. Until then no
  // later one is taken for it.
  void tell_past(const Wait& wait, std::optional<Stop> first);
  // Ends the overdue waits. Returns when the next one is.
  std::optional<base::SteadyTime::time_point> expire_waits(base::SteadyTime::time_point now);
  // Ends all waits, and every later one as soon as it begins.
  void end_waits();

  // Null: read the store.
  LiveLogPtr log(task::TaskKey task) const;
  LiveLogPtr log(const task::TaskRef& ref) const;
  // The log of the only task of a context.
  LiveLogPtr alone_in(task::ContextKey context) const;

  // Another node has changed the task, whose last event is `last` by then: drops what is out of date and has
  // readers look again. Returns those who wait for a stop that may have come: call tell_past for each.
  struct Looking {
    Wait wait;
    task::EventNumber after;
  };
  std::vector<Looking> changed_elsewhere(task::TaskKey task, task::EventNumber last);
  // Forgets all logs: others may have changed any of the tasks, and nobody has told.
  void forget_logs();
  // What there is to do about other nodes that share the store.
  struct Sharing {
    store::NodeId self;
    // Has a wait look at the store where others may have added the stop that it waits for: as
    // changed_elsewhere, for a change of this node's that follows one of theirs.
    std::function<void(const Looking&)> look;
    // Has others tell of a task that is followed here and may change there. Called once while it is followed.
    std::function<void(store::Grown)> follow;
  };
  // Once, before anything else.
  void share(Sharing sharing) { sharing_ = std::move(sharing); }
  // Once, before anything else: called with each change that is published, before anybody hears of it.
  void tell_all(std::function<void(const store::Committed&)> listener) { listener_ = std::move(listener); }
  // The tasks that have subscribers, with the last event that those have heard of.
  std::vector<store::Grown> followed() const;

  // Whether the task has a subscriber: a stream, or a reply that waits for it to stop.
  bool is_followed(task::TaskKey task) const;

  // A change to the task waits to be decided, or its creation to be committed. Follow with one of the next
  // two.
  void changing(task::TaskKey task);
  // It was not stored.
  void unchanged(task::TaskKey task);
  // It is durable. `request`: came with the change's message. `metadata`: of a new task; null for others.
  void publish(const store::Committed& committed, std::optional<task::RequestData> request,
               const task::Json* metadata);
  // The task is gone for good: drops its log, ends its waits, and has its readers look again.
  void forget(task::TaskKey task);
  // Whether a read of the task from the store may see what is not durable yet.
  bool is_changing(task::TaskKey task) const;
  // Calls `then` once when the next change of those is durable, or was not stored. Returns false, and never
  // calls it, if there is none. Lets a reader send what is imminent together with what it has.
  bool after_change(task::TaskKey task, std::function<void()> then);

  struct Counts {
    std::size_t tasks = 0;
    std::size_t subscriptions = 0;
  };
  Counts counts() const;

 private:
  struct Subscriber {
    std::shared_ptr<News> news;  // or
    OnStop on_stop;
    task::EventNumber after;
    base::SteadyTime::time_point deadline;
    std::optional<Stop> later;  // the first one that was published; told once no earlier one can be found
    int looks = 0;              // at the store, under way, for an earlier one
    task::EventNumber known;    // up to here there is none, or a look finds it
  };
  using Subscribers = std::map<std::uint64_t, Subscriber>;  // mostly one
  struct Live {
    LiveLogPtr log;
    std::size_t bytes = 0;  // of the log's events
    Subscribers subscribers;
    int readers = 0;                           // subscribers that read the log
    int changing = 0;                          // changes that wait or are not durable
    task::EventNumber heard;                   // the last event that subscribers know of
    bool is_asked_for = false;                 // see Sharing::follow
    std::vector<std::function<void()>> after;  // the next of them
  };
  using Entries = std::unordered_map<task::TaskKey, Live>;
  struct State {
    Entries tasks;
    // By a hash of agent, caller and id: compare, since hashes may collide.
    std::unordered_map<std::size_t, task::TaskKey> by_name;
    std::unordered_map<task::ContextKey, task::TaskKey> alone;  // the only task of a context made for it
    std::deque<task::TaskKey> young;  // whole logs in order of creation; some may be gone
    std::size_t young_bytes = 0;      // of whole logs
    std::size_t tail_bytes = 0;       // of the others
    std::uint64_t next_id = 1;
    std::size_t subscriptions = 0;
    bool takes_waits = true;
  };
  using Dropped = std::vector<LiveLogPtr>;  // destroyed outside the lock

  bool note_stop(Subscriber& subscriber, const store::Committed& committed) const;
  bool asks_for(Live& live) const;
  std::uint64_t add(State& state, task::TaskKey task, Subscriber subscriber,
                    std::optional<store::Grown>& follows) const;
  static void drop(State& state, Live& live, Subscribers::iterator subscriber);
  void remove(task::TaskKey task, std::uint64_t id);
  static LiveLogPtr drop_log(State& state, task::TaskKey task, Live& live);
  static void drop_if_idle(State& state, Entries::iterator entry);
  static std::shared_ptr<LiveLog> next_log(const Live& live, const store::Committed& committed);
  void keep(State& state, Live& live, std::shared_ptr<LiveLog> log, std::size_t more, Dropped& dropped) const;
  void make_room(State& state, Dropped& dropped) const;

  const std::size_t young_bytes_max_;
  std::optional<Sharing> sharing_;
  std::function<void(const store::Committed&)> listener_;  // may be empty
  base::Guarded<State> state_;
};

}  // namespace baton::engine
