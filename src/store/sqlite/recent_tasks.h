// RecentTasks: the tasks made last, whole in memory, so that what is asked about a task in its first moments
// (by its turn, its caller, its readers) is not read back from the disk that has just got it.
//
// A task is in it from its first commit or never, so what is here is complete; it goes when it has grown, or
// when newer ones need the room. Filled once a change is on the disk, before anybody is told; while a change
// to a task is under way only the disk is asked how the task is now, so that memory is never behind it. How
// it was at an event that is known stays true, and memory tells it. Threads: any. No lock is held while
// anything is read, written or called.
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

  // A change to the task, or the one that makes it, is about to be committed; then one of the next three
  // follows.
  void changing(task::TaskKey key);
  // It was refused.
  void unchanged(task::TaskKey key);
  // `metadata`: the new task's. `request`: what came with a message of the change.
  void created(const Committed& committed, task::Json metadata, std::optional<task::TurnRequest> request);
  void advanced(const Committed& committed, std::optional<task::TurnRequest> request);

  // Whether what the disk tells of the task may not have been flushed.
  bool is_changing(task::TaskKey key) const;

  // Each answers nothing where the disk must be asked.
  std::optional<task::TaskHead> head(task::TaskKey key) const;
  std::optional<task::TaskHead> head(const task::TaskRef& ref) const;
  std::optional<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                 std::optional<task::EventNumber> as_of) const;
  std::optional<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after, int limit) const;
  std::optional<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const;
  // Only where nothing has been said yet.
  std::optional<std::vector<task::Message>> conversation(task::ContextKey context, task::TaskKey task,
                                                         task::EventNumber unanswered) const;

  std::optional<std::vector<std::string>> call_ids(task::ContextKey context) const;

 private:
  struct Request {
    task::EventNumber first, last;  // of the change it came with
    std::shared_ptr<const task::TurnRequest> request;
  };
  struct Log {
    task::TaskHead head;
    task::Json metadata;
    base::Timestamp created{};
    std::vector<task::EventPtr> events;  // from the first
    std::vector<Request> requests;
  };
  // Replaced and never changed, so that readers may go on with the one they found.
  using LogPtr = std::shared_ptr<const Log>;
  struct Entry {
    LogPtr log;
    std::size_t bytes = 0;
  };
  struct State {
    std::unordered_map<task::TaskKey, Entry> tasks;
    std::unordered_map<task::TaskKey, int> changing;  // changes under way, of any task
    // By a hash of agent, caller and id: what is found there may be another task.
    std::unordered_map<std::size_t, task::TaskKey> by_name;
    std::unordered_map<task::ContextKey, task::TaskKey> alone;  // in a context made for it
    std::deque<task::TaskKey> order;                            // of creation; some may be gone
    std::size_t bytes = 0;
  };

  bool is_kept(std::size_t bytes, std::size_t events) const;
  // Whatever is known, which may not be the newest.
  LogPtr find_past(task::TaskKey key) const;
  LogPtr find(task::TaskKey key) const;
  // What may be told of a task: nothing while it is changing.
  static LogPtr known(const State& state, task::TaskKey key);
  // Of the only task of a context made for it.
  LogPtr find_alone(task::ContextKey context) const;
  static LogPtr forget(State& state, task::TaskKey key);
  static void change_is_over(State& state, task::TaskKey key);
  static void add_request(Log& log, const Committed& committed, std::optional<task::TurnRequest> request);
  static void forget_histories(Log& log);

  const std::size_t bytes_max_;
  base::Guarded<State> state_;
};

}  // namespace baton::store::sqlite
