// OtherNodes: what a node does about the others that share its store. It has followers and running turns hear
// of what those have changed, goes on with the tasks of nodes that are gone, gives up turns that were taken
// from it, and takes turns that wait for a slot elsewhere while it has slots to spare.
//
// What others tell is only the quick way: every second all that is followed or runs here is compared with the
// store in one statement, unless this node is alone; ten times a second where what others tell does not
// arrive.
//
// Threads: `start` and `stop` from one thread. Lifetime: the peers outlive it.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "engine/decide/inbox.h"
#include "engine/delegate/delegation.h"
#include "engine/live/live_tasks.h"
#include "engine/read/task_reader.h"
#include "engine/shared/background.h"
#include "engine/turns/turn_runner.h"
#include "store/peers.h"

namespace baton::engine {

class OtherNodes final : private store::Peers::Listener {
 public:
  struct Hooks {
    // These tasks' turns are this node's now, as they stand in the store. Blocks.
    std::function<base::Result<void>(std::vector<task::TaskHead>)> recover;
    // Every second: to look at what other nodes may have switched. Blocks.
    std::function<void()> look;
    // An operator wants this node to drain. Must not block.
    std::function<void()> drain;
  };

  OtherNodes(store::Peers& peers, const store::TaskStore& store, const TaskReader& reader, LiveTasks& live,
             Inbox& inbox, TurnRunner& turns, Delegation& delegation, Background& background, Hooks hooks);
  ~OtherNodes() { stop(); }

  void start();
  // No hook is called any more. Before the background stops.
  void stop();

 private:
  void heard(const std::vector<store::Grown>& tasks) override;
  void missed() override;
  void adopted(const std::vector<task::TaskKey>& tasks) override;
  void asked_to_drain() override;
  bool follows(task::TaskKey task) override { return live_.is_followed(task); }
  void others_follow(const std::vector<store::Grown>& tasks) override;
  void has_newcomer() override { peers_.follow(live_.followed()); }

  void look_later();
  void note_hearing();
  void look();
  void look_at_tasks();
  void take_turns();
  void take_turns(const task::AgentName& agent, int most);
  void recover(const std::vector<task::TaskKey>& tasks);

  store::Peers& peers_;
  const store::TaskStore& store_;
  const TaskReader& reader_;
  LiveTasks& live_;
  Inbox& inbox_;
  TurnRunner& turns_;
  Delegation& delegation_;
  Background& background_;
  const Hooks hooks_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> was_alone_{true};                    // when it last looked
  bool heard_{true};                                     // likewise; one look at a time
  base::SteadyTime::time_point looked_at_{};             // likewise
  std::atomic<base::SteadyTime::time_point> said_at_{};  // when it last told what is followed here
};

}  // namespace baton::engine
