// Scheduler: which queued turn runs next. A bounded number of slots, a limit for each agent, and agents take
// turns: one with a thousand queued turns does not hold up one with a single turn.
//
// Threads: any. `start` is called outside the lock, on the thread whose call made room; it must not block.
#pragma once

#include <deque>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "task/ids.h"

namespace baton::engine {

class Scheduler {
 public:
  using Start = std::function<void(task::TaskKey, const task::AgentName&)>;

  // `limits` has each agent's own limit on turns at once; an agent that is not in it may have one.
  Scheduler(int slots, int queue_max, std::unordered_map<task::AgentName, int> limits, Start start);

  // Room for one more turn. A slot, if `may_begin` and one is free for this agent and none of its turns waits
  // for it: the turn begins at once, and the slot ends in `finished`. Else a place in the queue, which ends
  // in `enqueue` or `release`. None: the queue is full.
  enum class Room { none, queue, slot };
  [[nodiscard]] Room reserve(const task::AgentName& agent, bool may_begin);
  void release();
  void enqueue(task::TaskKey task, const task::AgentName& agent);
  // What was queued before a restart needs no reservation: it was acknowledged.
  void enqueue_again(task::TaskKey task, const task::AgentName& agent);
  // A queued turn is not wanted any more.
  void remove(task::TaskKey task, const task::AgentName& agent);

  // A turn that was started gives its slot back: it ended, or it waits for children.
  void finished(const task::AgentName& agent);
  // A turn that waited for children goes on. It gets its slot even if that is one too many: a parent is
  // never starved by the children it waited for.
  void resumed(const task::AgentName& agent);

  // No further turn is started.
  void close();

  struct Counts {
    int queued = 0;
    int running = 0;
  };
  Counts counts() const;

 private:
  struct Lane {
    std::deque<task::TaskKey> queue;
    int running = 0;
    bool in_rotation = false;
  };
  struct State {
    std::unordered_map<task::AgentName, Lane> lanes;
    std::deque<task::AgentName> rotation;      // agents with something queued
    std::unordered_set<task::TaskKey> queued;  // in one of the lanes; each at most once
    int reserved = 0;
    int running = 0;
    bool closed = false;
  };

  using Starting = std::vector<std::pair<task::TaskKey, task::AgentName>>;

  template <class F>
  void change(F&& how);
  Starting what_fits(State& state) const;
  void put(State& state, task::TaskKey task, const task::AgentName& agent);
  int limit_of(const task::AgentName& agent) const;

  const int slots_;
  const int queue_max_;
  const std::unordered_map<task::AgentName, int> limits_;
  const Start start_;
  base::Guarded<State> state_;
};

}  // namespace baton::engine
