// Scheduler: decides which queued turn runs next. It has a bounded number of slots, a limit for each agent,
// and a round robin over (caller, agent): a caller or agent with a thousand queued turns does not hold up one
// with a single turn. A caller's children have a lane of their own, so that a plan's thousand children do not
// hold up the caller's other turns.
//
// Threads: any. `start` is called outside the lock, on the thread whose call made room; it must not block.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/histogram.h"
#include "task/ids.h"

namespace baton::engine {

class Scheduler {
 public:
  using Start = std::function<void(task::TaskKey, const task::AgentName&)>;
  using Time = std::chrono::nanoseconds;

  // `limits`: how many turns each agent may run at once; an agent that is not in it may run one.
  Scheduler(int slots, int queue_max, std::unordered_map<task::AgentName, int> limits, Start start);

  // Replaces the limits. Running turns are not affected.
  void set_limits(std::unordered_map<task::AgentName, int> limits);

  // Limits the agent to this many turns at once until the next call, in place of its entry in `limits`; 0:
  // that entry applies again. Running turns are not affected.
  void set_limit(const task::AgentName& agent, int turns);

  // A paused agent starts no turn. Its queued turns take at most half of the queue's places, which leaves
  // places for other agents. Running turns are not affected.
  void set_paused(const task::AgentName& agent, bool paused);

  // The maximum number of queue places of one caller; 0: unbounded.
  void set_caller_max(int places) { caller_max_ = places; }

  // Where a turn comes from decides what it counts toward while it is queued.
  enum class Origin {
    send,     // the queue's places and the caller's share of them
    earlier,  // the queue's places; it was acknowledged earlier and is never refused
    child,    // neither: it waits inside its parent's plan, whose budget bounds it
  };

  // The agent and the caller of a turn that needs room.
  struct RoomRequest {
    task::AgentName agent;
    std::string caller;  // as task::account_of says
    Origin origin = Origin::send;
  };

  // Reserves room for one turn. `slot`: with `may_begin`, if the agent has a free slot and no queued turns;
  // the turn begins at once, and `finished` returns the slot. `queue`: a place in the queue, to be used by
  // `enqueue` or returned by `release`. `none`: the queue is full. `over_share`: the caller has all the
  // places it may have. `closed`: nothing starts here any more.
  enum class Room { none, over_share, closed, queue, slot };
  [[nodiscard]] Room reserve(const RoomRequest& request, bool may_begin);
  void release(const RoomRequest& request);
  void enqueue(task::TaskKey task, const RoomRequest& request);
  // Queues a turn without a reservation: after a restart, or when a task's turn follows another. Its origin
  // is not `send`.
  void enqueue_again(task::TaskKey task, const RoomRequest& request);
  // Removes a turn from the queue, if it is there.
  void remove(task::TaskKey task, const RoomRequest& request);

  // Returns the slot of a turn that has ended or waits for children.
  void finished(const task::AgentName& agent);
  // A turn that waited for children runs again. It gets a slot even beyond the limits, so that children never
  // starve their parent.
  void resumed(const task::AgentName& agent);

  // Starts no further turns and gives out no more room.
  void close();

  struct Counts {
    int queued = 0;
    int running = 0;
  };
  Counts counts() const;
  // How many more turns each agent could begin at once. Empty while a queued turn waits for any free slot,
  // and after `close`.
  std::vector<std::pair<task::AgentName, int>> room() const;

  // Counts of one agent, with the wait of its oldest queued turn, and a histogram of the waits of all turns
  // that have got a slot or left the queue.
  struct AgentCounts : Counts {
    Time oldest{0};
    base::Histogram::Snapshot waited;
  };
  // Returns every agent that has ever had a turn.
  std::vector<std::pair<task::AgentName, AgentCounts>> agents() const;

 private:
  // The queued turns of one caller at one agent, sent or children; removed when empty.
  using Lane = std::deque<task::TaskKey>;
  struct Agent {
    std::unordered_map<std::string, Lane> lanes;  // by name, see lane_of
    std::deque<std::string> parked;               // lanes that wait for the agent, not for a slot
    int in_rotation = 0;                          // the other lanes
    int queued = 0;
    int running = 0;
    base::Histogram waited{base::kTurnBounds};
  };
  struct Queued {
    Origin origin;
    base::SteadyTime::time_point since;
  };
  struct State {
    std::unordered_map<task::AgentName, int> limits;
    std::unordered_map<task::AgentName, int> own_limits;  // in place of those in `limits`
    std::unordered_set<task::AgentName> paused;
    std::unordered_map<task::AgentName, Agent> agents;
    std::deque<std::pair<task::AgentName, std::string>> rotation;  // lanes whose agent may have room
    std::unordered_map<task::TaskKey, Queued> queued;              // the tasks in the lanes
    std::unordered_map<std::string, int> shares;  // by caller: places of sends, queued or reserved
    int places = 0;                               // all that are taken, queued or reserved
    int running = 0;
    bool closed = false;
  };

  using Starting = std::vector<std::pair<task::TaskKey, task::AgentName>>;

  template <class F>
  void change(F&& how);
  Starting what_fits(State& state) const;
  void put(State& state, task::TaskKey task, const RoomRequest& request);
  void unpark(State& state, const task::AgentName& name) const;
  static void forget(State& state, Agent& agent, task::TaskKey task, const std::string& lane);
  static void give_back_place(State& state, Origin origin, const std::string& caller);
  static int limit_of(const State& state, const task::AgentName& agent);

  const int slots_;
  const int queue_max_;
  std::atomic<int> caller_max_{0};
  const Start start_;
  base::Guarded<State> state_;
};

}  // namespace baton::engine
