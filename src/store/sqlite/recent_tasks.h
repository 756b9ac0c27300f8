// RecentTasks: cache of the newest tasks, complete in memory, so that reads in a task's first moments (by its
// turn, its caller, its readers) need not go to disk.
//
// A task is cached from its first commit or never, so entries are complete. It is evicted when it grows too
// large or newer tasks need the room. The cache is updated once a change is on disk, before callbacks run.
// While a change to a task is being committed, its current state is read only from disk, so that the cache is
// never behind; its state at a cached event does not change and is still served. Threads: any. No lock is
// held while anything is read, written or called.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "store/task_store.h"
#include "task/fold.h"

namespace baton::store::sqlite {

class RecentTasks {
 public:
  explicit RecentTasks(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // A change to the task, or its creation, is about to be committed. Follow with one of the next three.
  void changing(task::TaskKey key);
  // The change was refused or rolled back.
  void unchanged(task::TaskKey key);
  // `metadata`: the new task's. `request`: came with the change's message.
  void created(const Committed& committed, task::Json metadata, std::optional<task::TurnRequest> request);
  void advanced(const Committed& committed, std::optional<task::TurnRequest> request);

  // Whether a read of the task from disk may see data that is not flushed yet.
  bool is_changing(task::TaskKey key) const;

  // Each returns empty on a cache miss: read from disk then.
  std::optional<task::TaskHead> head(task::TaskKey key) const;
  std::optional<task::TaskHead> head(const task::TaskRef& ref) const;
  std::optional<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                 std::optional<task::EventNumber> as_of) const;
  std::optional<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after, int limit) const;
  std::optional<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const;
  // Hits only if nothing has been said yet.
  std::optional<std::vector<task::Message>> conversation(task::ContextKey context, task::TaskKey task,
                                                         task::EventNumber unanswered) const;

  std::optional<std::vector<std::string>> call_ids(task::ContextKey context) const;

 private:
  struct Request {
    task::EventNumber first, last;  // events of the change it came with
    std::shared_ptr<const task::TurnRequest> request;
  };
  struct Log {
    task::TaskHead head;
    task::Json metadata;
    base::Timestamp created{};
    std::vector<task::EventPtr> events;  // from the first
    std::vector<Request> requests;
  };
  // Immutable; updates replace it, so readers can keep using the one they found.
  using LogPtr = std::shared_ptr<const Log>;
  struct Entry {
    LogPtr log;
    std::size_t bytes = 0;
  };
  struct State {
    std::unordered_map<task::TaskKey, Entry> tasks;
    std::unordered_map<task::TaskKey, int> changing;  // pending changes, of any task
    // By a hash of agent, caller and id: compare, since hashes may collide.
    std::unordered_map<std::size_t, task::TaskKey> by_name;
    std::unordered_map<task::ContextKey, task::TaskKey> alone;  // the only task of a new context
    std::deque<task::TaskKey> order;                            // of creation; some may be evicted
    std::size_t bytes = 0;
  };

  bool is_kept(std::size_t bytes, std::size_t events) const;
  // The cached log; may miss commits in progress.
  LogPtr find_past(task::TaskKey key) const;
  LogPtr find(task::TaskKey key) const;
  // The log if it is current; null while the task is changing.
  static LogPtr known(const State& state, task::TaskKey key);
  // The log of the only task of a context made for it.
  LogPtr find_alone(task::ContextKey context) const;
  static LogPtr forget(State& state, task::TaskKey key);
  static void change_is_over(State& state, task::TaskKey key);
  static void add_request(Log& log, const Committed& committed, std::optional<task::TurnRequest> request);
  static void forget_histories(Log& log);

  const std::size_t bytes_max_;
  base::Guarded<State> state_;
};

}  // namespace baton::store::sqlite
