// OtherNodes: works with the other nodes that share the store. It notifies followers and running turns of
// changes made there, continues the tasks of nodes that are gone, gives up turns that were taken over from
// it, and takes queued turns from other nodes while it has free slots.
//
// Notifications are only the fast path. Every second, unless this node is alone, it compares all tasks that
// are followed or run here with the store, in one statement; ten times a second where notifications do not
// arrive. Conversations that are followed here have no number to compare: their followers look at the store
// when a notification comes, at most every 20 s for each other node, and every second where none arrive.
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
    // Recovers these tasks, whose turns now belong to this node; the heads are as stored. Blocks.
    std::function<base::Result<void>(std::vector<task::TaskHead>)> recover;
    // Called every second, to apply what operators may have switched at other nodes; one call at a time.
    // Blocks.
    std::function<void()> look;
    // An operator wants this node to drain. Must not block.
    std::function<void()> drain;
    // API keys were changed at another node, or a notice of that may have been lost. Blocks.
    std::function<void()> look_at_keys;
  };

  OtherNodes(store::Peers& peers, const store::TaskStore& store, const TaskReader& reader, LiveTasks& live,
             Inbox& inbox, TurnRunner& turns, Delegation& delegation, Background& background, Hooks hooks);
  ~OtherNodes() { stop(); }

  void start();
  // After it no hook is called. Call it before the background stops.
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
  void look_once();
  void look_at_tasks();
  void wake_conversations();
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
  std::atomic<int> looks_wanted_{0};          // not ended yet
  std::atomic<bool> was_alone_{true};         // when it last looked
  bool heard_{true};                          // whether notifications arrived then; one look at a time
  base::SteadyTime::time_point looked_at_{};  // the time of the last full look
  std::atomic<base::SteadyTime::time_point> said_at_{};  // when it last announced what is followed here
};

}  // namespace baton::engine
