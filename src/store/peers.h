// Peers: the nodes that share a store. A node is one run of a program, with a number that is never used
// again. It is alive while it renews its lease, in the database's time. When its lease has expired, another
// node takes over its tasks (TaskRow::owner), and the store accepts no more writes from it.
//
// Nodes notify each other of the tasks that they have changed, soon after the commit: tasks whose turn was
// another node's, and tasks that another node follows. A notification may come late, twice or not at all.
// Event numbers show what is missing, so a node that follows a task also checks it every second (`ends`).
//
// Threads: every method from any. The listener is called on threads of the peers, one call at a time, and may
// read the store.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/task_store.h"

namespace baton::store {

// The last event that a task has had. With the key of a conversation (engine/live/conversation_key.h): that
// it has news; the number then means nothing.
struct Grown {
  task::TaskKey task;
  task::EventNumber last;
};

// The last event of a task, and the owner of its turn.
struct TaskEnd {
  task::TaskKey task;
  task::EventNumber last;
  task::Version version;
  NodeId owner;
  bool cancel_requested = false;
  std::string answered = {};  // the child's question that was answered, unless the task asks again
};

struct NodeAgent {
  task::AgentName name;
  std::string digest;         // of its card, as hex
  base::Timestamp changed{};  // the card; 0: unknown
};

// A node's status, which it reports with each renewal of its lease.
struct NodeReport {
  int running = 0, queued = 0;  // turns
  bool draining = false;
  std::chrono::milliseconds lag{0};  // the longest wait of a queued turn
  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

struct Node {
  NodeId id;
  std::string name;     // the machine's, or what its operator has set
  std::string version;  // of the program
  base::Timestamp started{};
  std::chrono::milliseconds lease{};  // the remaining time of its lease; negative: expired
  NodeReport report;
  std::chrono::microseconds database{0};  // the database's response time at the renewal before the last one
  bool is_joining = false;                // it waits until all others know of it
  bool is_asked_to_drain = false;
  std::vector<NodeAgent> agents;  // by name
};

// How long a node is notified of a task after its last request to follow it.
inline constexpr std::chrono::seconds kFollowed(25);

class Peers {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // Others have changed these tasks.
    virtual void heard(const std::vector<Grown>& tasks) = 0;
    // Notifications may have been missed: check all followed tasks, and do not rely on tasks in memory that
    // are not followed. Also called when the last other node has gone: this node counts as alone again only
    // after this call.
    virtual void missed() = 0;
    // A node is dead. These tasks with a turn now belong to this node, as after a restart, and this node must
    // also finish the dead node's other work. The list may be empty.
    virtual void adopted(const std::vector<task::TaskKey>& tasks) = 0;
    // An operator has asked this node to drain and to end. Called once.
    virtual void asked_to_drain() = 0;
    // Whether this node follows the task.
    virtual bool follows(task::TaskKey task) = 0;
    // Other nodes follow these tasks and know of these events: tell them of later events that this node
    // knows.
    virtual void others_follow(const std::vector<Grown>& tasks) = 0;
    // Another node has begun to listen. It does not know which tasks this node follows (Peers::follow).
    virtual void has_newcomer() = 0;
  };

  virtual ~Peers() = default;

  // This program's node number.
  virtual NodeId self() const = 0;
  // Whether no other node can have changed anything until now, so that this node's memory is complete. Cheap.
  // May also be false briefly when the database is slow to accept a renewal of the lease.
  virtual bool is_alone() const = 0;
  // Whether the store has accepted a renewal of this node's lease in the last seconds. Cheap.
  virtual bool is_in_touch() const = 0;
  // Whether notifications of other nodes arrive here. A proxy in front of the database may hold them back;
  // then this node must poll for changes. Cheap.
  virtual bool hears() const = 0;

  // Sets the listener, which must outlive the peers or be replaced by null; replacing waits for a running
  // call. Until a listener is set, tasks of dead nodes that this one has taken over become its own without a
  // call.
  virtual void listen(Listener* listener) = 0;
  // Notifies the other nodes of these tasks. Never blocks; does nothing while this node is alone.
  virtual void notify(const std::vector<Grown>& tasks) = 0;
  // Like `notify`, but only for tasks that this node knows other nodes to follow. All tasks count as followed
  // while notifications do not arrive, and for a moment after this node has begun to listen.
  virtual void notify_followers(const std::vector<Grown>& tasks) = 0;
  // Asks the other nodes to notify this node of these tasks for the next kFollowed, and at once of events
  // after these. Never blocks; does nothing while this node is alone.
  virtual void follow(const std::vector<Grown>& tasks) = 0;
  // Whether another node follows the task. Asks all nodes, and blocks for a moment. A node that does not
  // answer in time counts as not following, unless notifications do not arrive here.
  virtual bool is_followed_elsewhere(task::TaskKey task) = 0;
  // A lock by name between nodes, for work that only one node may begin at a time. It is released with the
  // last copy, on any thread. Returns null if another node holds it and does not release it in a moment.
  // Blocks. It does not exclude other work of the same node under the same name. Fails with unavailable, or
  // with overloaded if this node holds as many as it may, or this caller more than are left for others.
  using Claim = std::shared_ptr<const void>;
  virtual base::Result<Claim> claim(const task::Caller& caller, const std::string& name) = 0;
  // Returns the ends of these tasks, in any order; leaves out removed tasks. Runs one statement.
  virtual base::Result<std::vector<TaskEnd>> ends(const std::vector<task::TaskKey>& tasks) const = 0;

  // Takes over at most `most` turns that wait for a slot at other live nodes, in the store's open group.
  // Takes only turns of these agents, of tasks that have no parent, that await no children, and whose turn
  // has not crashed a program. Returns the heads after the takeover. Call on the writing thread; fails as
  // TaskStore::apply does.
  virtual base::Result<std::vector<task::TaskHead>> take_queued(const std::vector<task::AgentName>& agents,
                                                                int most) = 0;

  // Publishes this node's agents, and sets the function for its report. The function is called with each
  // renewal, on a thread of the peers, until `leave`. Replacing it waits for a running call, so null stops
  // the calls; never call this from within the function.
  virtual void announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report) = 0;
  // Returns all nodes that have not left, by number, including this one. A node whose lease has expired will
  // soon be declared dead.
  virtual base::Result<std::vector<Node>> nodes() const = 0;
  // Fails with not_found if there is no such node.
  virtual base::Result<void> ask_to_drain(NodeId node) = 0;
  // Releases this node's unfinished tasks, so that another node takes them over at once. Nothing can be
  // written afterwards. Call once all writes are done.
  virtual void leave() = 0;

  // Whether this node is the leader, which does the work that only one node does: retention, operators' jobs.
  // There is one leader, or for a moment none; never two.
  virtual bool leads() const = 0;
};

}  // namespace baton::store
