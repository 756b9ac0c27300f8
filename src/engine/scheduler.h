// Scheduler: which queued turn runs next. A bounded number of slots, a limit for each agent, and a rotation
// over (caller, agent): a caller with a thousand queued turns does not hold up one with a single turn, nor
// does an agent.
//
// Threads: any. `start` is called outside the lock, on the thread whose call made room; it must not block.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
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

  // Other limits from now on. Turns that run stay.
  void set_limits(std::unordered_map<task::AgentName, int> limits);

  // How many places in the queue one caller may have; 0 is no bound.
  void set_caller_max(int places) { caller_max_ = places; }

  // Whose turn is to be queued, at which agent.
  struct Claim {
    task::AgentName agent;
    std::string caller;   // as task::account_of says
    bool bounded = true;  // by the caller's share of the queue; not so the turns of children
  };

  // Room for one more turn. A slot, if `may_begin` and one is free for this agent and none of its turns waits
  // for it: the turn begins at once, and the slot ends in `finished`. Else a place in the queue, which ends
  // in `enqueue` or `release`. None: the queue is full. Over share: the caller has all the places it may
  // have.
  enum class Room { none, over_share, queue, slot };
  [[nodiscard]] Room reserve(const Claim& claim, bool may_begin);
  void release(const Claim& claim);
  void enqueue(task::TaskKey task, const Claim& claim);
  // What was queued before a restart needs no reservation: it was acknowledged. It counts for nobody's share.
  void enqueue_again(task::TaskKey task, const task::AgentName& agent, const std::string& caller);
  // A queued turn is not wanted any more.
  void remove(task::TaskKey task, const task::AgentName& agent, const std::string& caller);

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
  // The queued turns of one caller at one agent, while there are any.
  using Lane = std::deque<task::TaskKey>;
  struct Agent {
    std::unordered_map<std::string, Lane> lanes;  // by caller
    std::deque<std::string> parked;               // callers whose lane waits for the agent, not for a slot
    int in_rotation = 0;                          // the other lanes
    int queued = 0;
    int running = 0;
  };
  struct State {
    std::unordered_map<task::AgentName, int> limits;
    std::unordered_map<task::AgentName, Agent> agents;
    std::deque<std::pair<task::AgentName, std::string>> rotation;  // lanes whose agent may have room
    std::unordered_map<task::TaskKey, bool> queued;  // in one of the lanes; whether it is bounded
    std::unordered_map<std::string, int> places;     // of callers: queued and reserved, bounded
    int reserved = 0;
    int running = 0;
    bool closed = false;
  };

  using Starting = std::vector<std::pair<task::TaskKey, task::AgentName>>;

  template <class F>
  void change(F&& how);
  Starting what_fits(State& state) const;
  void put(State& state, task::TaskKey task, const Claim& claim);
  void unpark(State& state, const task::AgentName& name) const;
  static void forget(State& state, Agent& agent, task::TaskKey task, const std::string& caller);
  static void give_back_place(State& state, const std::string& caller);
  static int limit_of(const State& state, const task::AgentName& agent);

  const int slots_;
  const int queue_max_;
  std::atomic<int> caller_max_{0};
  const Start start_;
  base::Guarded<State> state_;
};

}  // namespace baton::engine
