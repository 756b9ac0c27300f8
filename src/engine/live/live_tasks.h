// LiveTasks: the durable state of tasks that are young, followed or changing, and their subscribers.
//
// Each task has one immutable log: its head and newest events, replaced when a change is durable. A reader
// that holds a log needs no lock. A young task's log is whole until newer tasks need the space or it grows
// too long; an older task's log begins with the events that came after its first reader. Readers keep their
// own position: they subscribe, read, and read the store where the log has a gap. Each notification means:
// read again. Nothing is queued for a reader, so a slow one costs nothing.
//
// Threads: every method from any. Callbacks run outside the lock, on the thread that publishes (the flushing
// thread) or that begins or ends the wait; they must not block. A News callback may still run once after its
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
  // Gets nullopt if the wait has ended without a stop.
  using OnStop = std::function<void(std::optional<Stop>)>;

  // `young_bytes_max`: the space for the logs of young tasks.
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

  // Calls `news` whenever the task's log has grown. The subscriber is a reader of the task. With the key of a
  // conversation (conversation_key.h): whenever a run may have begun or ended in it, here or on another node.
  Subscription subscribe(task::TaskKey task, News news);
  // Calls `on_reader` whenever the task gets a first reader. Does not count as following the task.
  Subscription await_readers(task::TaskKey task, News on_reader);
  // Whether the task has a reader on this node.
  bool has_readers(task::TaskKey task) const;

  // Calls `on_stop` once, with the first stop after event `after`; at once if it has already come, so callers
  // need not tell past from future. Calls it with nullopt when the wait is overdue or ended.
  struct Wait {
    task::TaskKey task;
    std::uint64_t id = 0;     // 0: it is over
    bool knows_past = false;  // false: only the store knows whether the stop has come: call resolve_past
  };
  Wait await_stop(task::TaskKey task, task::EventNumber after, base::SteadyTime::time_point deadline,
                  OnStop on_stop);
  // Gives a wait the first stop after `after` that the store had once the wait had begun; nullopt: none.
  // Until this call a later stop is held back, because an earlier one may exist.
  void resolve_past(const Wait& wait, std::optional<Stop> first);
  // Ends the overdue waits. Returns the next deadline; nullopt if there are no waits.
  std::optional<base::SteadyTime::time_point> expire_waits(base::SteadyTime::time_point now);
  // Ends all waits, and every later one as soon as it begins.
  void end_waits();

  // Null if the log is not in memory: read the store.
  LiveLogPtr log(task::TaskKey task) const;
  LiveLogPtr log(const task::TaskRef& ref) const;
  // The log of the only task of a context.
  LiveLogPtr alone_in(task::ContextKey context) const;

  // Another node has changed the task, whose last event is now at least `last`: drops an outdated log and
  // notifies the readers. Returns the waits whose stop may have come: call resolve_past for each.
  struct Looking {
    Wait wait;
    task::EventNumber after;
  };
  std::vector<Looking> changed_elsewhere(task::TaskKey task, task::EventNumber last);
  // Drops all logs, because other nodes may have changed any of the tasks without a notification.
  void forget_logs();
  // Hooks for a store that other nodes share.
  struct Sharing {
    store::NodeId self;
    // Searches the store for the stop that a wait needs, where another node may have added it. Used as after
    // changed_elsewhere, for a change of this node that follows a change of another node.
    std::function<void(const Looking&)> look;
    // Asks the other nodes to report changes of a task that is followed here. Called once while it is
    // followed.
    std::function<void(store::Grown)> follow;
  };
  // Once, before anything else.
  void share(Sharing sharing) { sharing_ = std::move(sharing); }
  // Once, before anything else: `listener` is called with each published change, before any subscriber.
  void listen(std::function<void(const store::Committed&)> listener) { listener_ = std::move(listener); }
  // The tasks and conversations that have subscribers, each with the last event that its subscribers have
  // heard of.
  std::vector<store::Grown> followed() const;

  // Whether the task has a subscriber: a stream, or a reply that waits for it to stop.
  bool is_followed(task::TaskKey task) const;

  // A change to the task waits to be decided, or its creation to be committed. Follow with `unchanged` or
  // `publish`.
  void changing(task::TaskKey task);
  // The change was not stored.
  void unchanged(task::TaskKey task);
  // The change is durable. `request`: the data that came with its message. `metadata`: of a new task; null
  // for others.
  void publish(const store::Committed& committed, std::optional<task::RequestData> request,
               const task::Json* metadata);
  // The task was removed: drops its log, ends its waits, and notifies its readers.
  void forget(task::TaskKey task);
  // Whether a read of the task from the store may see what is not durable yet.
  bool is_changing(task::TaskKey task) const;
  // Calls `then` once, when the next pending change is durable or was not stored. Returns false, and never
  // calls it, if no change is pending. Lets a reader send imminent events together with those that it has.
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
    std::optional<Stop> later;  // the first published stop; told once no earlier one can exist
    int looks = 0;              // running searches of the store for an earlier stop
    task::EventNumber known;    // up to here there is no stop, or a search finds it
  };
  using Subscribers = std::map<std::uint64_t, Subscriber>;  // mostly one
  struct Live {
    LiveLogPtr log;
    std::size_t bytes = 0;   // of the log's events
    std::size_t hidden = 0;  // of those that LiveEvents hides
    Subscribers subscribers;
    int readers = 0;  // subscribers that read the log
    std::map<std::uint64_t, std::shared_ptr<News>> await_readers;
    int changing = 0;                          // changes that wait or are not durable
    task::EventNumber heard;                   // the last event that subscribers know of
    bool is_asked_for = false;                 // see Sharing::follow
    std::vector<std::function<void()>> after;  // see after_change
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
    std::size_t conversations = 0;  // subscriptions to conversations
    bool takes_waits = true;
  };
  using Dropped = std::vector<LiveLogPtr>;  // destroyed outside the lock

  bool note_stop(Subscriber& subscriber, const store::Committed& committed) const;
  bool asks_for(Live& live) const;
  std::uint64_t add(State& state, task::TaskKey task, Subscriber subscriber,
                    std::optional<store::Grown>& follows) const;
  static void add_conversation_news(const State& state, const task::TaskHead& head,
                                    std::vector<std::shared_ptr<News>>& news);
  static bool is_idle(const Live& live);
  static void drop(State& state, Live& live, Subscribers::iterator subscriber);
  void remove(task::TaskKey task, std::uint64_t id);
  static LiveLogPtr drop_log(State& state, task::TaskKey task, Live& live);
  static void drop_if_idle(State& state, Entries::iterator entry);
  static std::shared_ptr<LiveLog> next_log(const Live& live, const store::Committed& committed);
  void keep(State& state, Live& live, std::shared_ptr<LiveLog> log, std::size_t added, std::size_t others,
            Dropped& dropped) const;
  void make_room(State& state, Dropped& dropped) const;

  const std::size_t young_bytes_max_;
  std::optional<Sharing> sharing_;
  std::function<void(const store::Committed&)> listener_;  // may be empty
  base::Guarded<State> state_;
};

}  // namespace baton::engine
