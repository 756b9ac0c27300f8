// Peers: the nodes that share a store. A node is one program during one life of it, with a number that is
// never used again. It is alive while it renews its lease, in the database's time; when it is not, another
// node takes its tasks over (TaskRow::owner), and nothing that it says is stored any more.
//
// Nodes tell each other which tasks they have changed, after the commit and soon: those whose turn was not
// their own, and those that another node has said to follow. What is told may come late, twice or not at all:
// the numbers of events say what is missing, so whoever follows a task looks at it every second besides
// (`ends`).
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

// The last event that a task has had.
struct Grown {
  task::TaskKey task;
  task::EventNumber last;
};

// How far a task has come, and whose turn it has.
struct TaskEnd {
  task::TaskKey task;
  task::EventNumber last;
  task::Version version;
  NodeId owner;
  bool cancel_requested = false;
  std::string answered = {};  // the child's question that has its answer, unless the task asks again
};

struct NodeAgent {
  task::AgentName name;
  std::string digest;         // of its card, as hex
  base::Timestamp changed{};  // the card; 0: unknown
};

// What a node says of itself with each sign of life.
struct NodeReport {
  int running = 0, queued = 0;  // turns
  bool draining = false;
  std::chrono::milliseconds lag{0};  // how long the turn has waited that has waited longest
  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

struct Node {
  NodeId id;
  std::string name;     // the machine's, or what its operator has set
  std::string version;  // of the program
  base::Timestamp started{};
  std::chrono::milliseconds lease{};  // that is left of it; negative: it is over
  NodeReport report;
  std::chrono::microseconds database{0};  // what it took to answer the node's last sign of life but one
  bool is_joining = false;                // it waits until all others know of it
  bool is_asked_to_drain = false;
  std::vector<NodeAgent> agents;  // by name
};

// How long a node is told of a task that it has said to follow.
inline constexpr std::chrono::seconds kFollowed(25);

class Peers {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // Others have changed these tasks.
    virtual void heard(const std::vector<Grown>& tasks) = 0;
    // Something may have been missed: look at all that is followed, and rely on nothing that is in memory but
    // is not followed. Comes also when the last other node has gone: only then is this one alone again.
    virtual void missed() = 0;
    // A node is dead: these of its tasks with a turn are this one's now, as after a restart, and what else it
    // has left undone is for this one to do. There may be none.
    virtual void adopted(const std::vector<task::TaskKey>& tasks) = 0;
    // An operator wants this node to drain and to end. Called once.
    virtual void asked_to_drain() = 0;
    // Whether somebody follows the task here.
    virtual bool follows(task::TaskKey task) = 0;
    // Other nodes follow these tasks, and know of these events: they are to be told of later ones that this
    // one knows of.
    virtual void others_follow(const std::vector<Grown>& tasks) = 0;
    // Another node has begun to listen: it has not heard what is followed here (Peers::follow).
    virtual void has_newcomer() = 0;
  };

  virtual ~Peers() = default;

  // This program's.
  virtual NodeId self() const = 0;
  // Whether no other node can have changed anything until now. So what this one has in memory is all there
  // is. Cheap. False also for a moment when the database is slow to take a sign of life.
  virtual bool is_alone() const = 0;
  // Whether the store has taken a sign of life of this node in the last seconds. Cheap.
  virtual bool is_in_touch() const = 0;
  // Whether what others tell arrives here. It does not where a proxy before the database keeps notifications
  // back: then what others change has to be looked for. Cheap.
  virtual bool hears() const = 0;

  // From now on calls the listener, which must outlive the peers or be replaced by null; replacing waits for
  // a call that is under way. Before that tasks of dead nodes that this one has taken over are simply its
  // own.
  virtual void listen(Listener* listener) = 0;
  // Has the others hear of these tasks. Never blocks; does nothing while this node is alone.
  virtual void tell(const std::vector<Grown>& tasks) = 0;
  // The same for those of the tasks that somebody follows elsewhere, as far as this node knows: all of them
  // just after it has begun to listen, and while it does not hear.
  virtual void tell_followers(const std::vector<Grown>& tasks) = 0;
  // Has the others tell this node of these tasks for the next kFollowed, and at once of what they have beyond
  // these events. Never blocks; does nothing while this node is alone.
  virtual void follow(const std::vector<Grown>& tasks) = 0;
  // Whether somebody follows the task on another node: asks them all, and blocks for a moment. One that does
  // not answer in time counts as one where nobody does, unless this node does not hear.
  virtual bool is_followed_elsewhere(task::TaskKey task) = 0;
  // The right to begin what one node may begin at a time, by a name; given back with the last copy, on any
  // thread. Null: another node has it, and has not given it back in a moment. Blocks. What one node does at
  // once under the same name is its own affair. Fails with unavailable, or overloaded: this node has as many
  // as it may, or this caller more than are left for the others.
  using Claim = std::shared_ptr<const void>;
  virtual base::Result<Claim> claim(const task::Caller& caller, const std::string& name) = 0;
  // How far these tasks have come, in any order; leaves out those that are gone. One statement.
  virtual base::Result<std::vector<TaskEnd>> ends(const std::vector<task::TaskKey>& tasks) const = 0;

  // Adds to the store's open group: this node takes over at most `most` turns that wait for a slot at others
  // that are alive, of tasks of these agents that nobody has delegated, that await no children, and whose
  // turn no program has died of. Returns the tasks as they are then. On the thread that writes; fails as
  // TaskStore::apply does.
  virtual base::Result<std::vector<task::TaskHead>> take_queued(const std::vector<task::AgentName>& agents,
                                                                int most) = 0;

  // What this node says of itself: its agents, and a report, for which it is asked with each sign of life on
  // a thread of the peers, until `leave`. Waits for a call of the former function, so null ends that; never
  // call it from there.
  virtual void announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report) = 0;
  // All that have not left, by number; this one, too. One whose lease is over is dead soon.
  virtual base::Result<std::vector<Node>> nodes() const = 0;
  // not_found if there is no such node.
  virtual base::Result<void> ask_to_drain(NodeId node) = 0;
  // Gives this node's unfinished tasks away: another one takes them over at once. Nothing can be written
  // afterwards. Call once all writes are done.
  virtual void leave() = 0;

  // Whether this node does what only one of them does: retention, operators' jobs. There is one that does, or
  // for a moment none; never two.
  virtual bool leads() const = 0;
};

}  // namespace baton::store
