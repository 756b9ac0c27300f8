#include "engine/nodes/other_nodes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/live/conversation_key.h"
#include "engine/operators/api_keys.h"

namespace baton::engine {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1'000}, kLookEveryUntold{100}, kRecoverAgain{250};
// When to announce followed tasks again, before the other nodes forget them.
constexpr std::chrono::seconds kSayAgain = store::kFollowed - std::chrono::seconds(5);

}  // namespace

OtherNodes::OtherNodes(store::Peers& peers, const store::TaskStore& store, const TaskReader& reader,
                       LiveTasks& live, Inbox& inbox, TurnRunner& turns, Delegation& delegation,
                       Background& background, Hooks hooks)
    : peers_(peers),
      store_(store),
      reader_(reader),
      live_(live),
      inbox_(inbox),
      turns_(turns),
      delegation_(delegation),
      background_(background),
      hooks_(std::move(hooks)) {}

void OtherNodes::start() {
  peers_.listen(this);
  look_later();
}

void OtherNodes::stop() {
  if (!stopped_.exchange(true)) peers_.listen(nullptr);
}

void OtherNodes::heard(const std::vector<store::Grown>& tasks) {
  std::vector<task::TaskKey> own;
  for (const store::Grown& task : tasks) {
    if (task.task == kApiKeysNotice) {
      background_.run([this] { hooks_.look_at_keys(); });
      continue;
    }
    reader_.changed_elsewhere(task.task, task.last);
    if (turns_.runs(task.task) || turns_.questions().are_asked_of(task.task)) own.push_back(task.task);
  }
  if (own.empty()) return;
  const auto ends = peers_.ends(own);
  if (!ends) return;  // the next look finds it
  for (const store::TaskEnd& end : *ends) delegation_.changed_elsewhere(end);
}

void OtherNodes::others_follow(const std::vector<store::Grown>& tasks) {
  std::vector<store::Grown> later;
  for (const store::Grown& task : tasks) {
    // A run may have begun here before this node knew of the follower.
    if (is_conversation(task.task)) {
      later.push_back(task);
      continue;
    }
    const LiveLogPtr log = live_.log(task.task);
    const task::EventNumber last =
        std::max(log ? log->head.last_event : task::EventNumber(), turns_.last_event(task.task));
    if (last > task.last) later.push_back({task.task, last});
  }
  if (!later.empty()) peers_.notify(later);
}

// Notifications were lost, so any state in memory may be outdated. Drops the cached logs and rows, and
// compares everything else with the store.
void OtherNodes::missed() {
  live_.forget_logs();
  inbox_.forget_rows();
  background_.run([this] {
    wake_conversations();
    hooks_.look_at_keys();
    look();
  });
}

// Followers of conversations look at the store: a notification may be lost.
void OtherNodes::wake_conversations() {
  for (const store::Grown& one : live_.followed()) {
    if (is_conversation(one.task)) reader_.changed_elsewhere(one.task, one.last);
  }
}

void OtherNodes::adopted(const std::vector<task::TaskKey>& tasks) {
  background_.run([this, tasks] { recover(tasks); });
}

void OtherNodes::asked_to_drain() {
  hooks_.drain();
}

void OtherNodes::look_later() {
  background_.timers().after(peers_.hears() ? kLookEvery : kLookEveryUntold, [this] {
    background_.run([this] {
      note_hearing();
      if (base::SteadyTime::now() - looked_at_ >= kLookEvery - kLookEveryUntold) {
        looked_at_ = base::SteadyTime::now();
        look();
      } else if (!peers_.is_alone()) {
        look_at_tasks();
      }
      if (!stopped_) look_later();
    });
  });
}

void OtherNodes::note_hearing() {
  const bool hears = peers_.hears();
  if (std::exchange(heard_, hears) == hears) return;
  if (hears) return spdlog::info("notifications from other nodes arrive again");
  spdlog::warn(
      "notifications from other nodes do not arrive, so their changes appear up to {} ms late; check for a "
      "pooler or proxy in front of the database that drops NOTIFY",
      kLookEveryUntold.count());
}

// One thread looks at a time; it repeats the look for those who called meanwhile.
void OtherNodes::look() {
  if (looks_wanted_++ > 0) return;
  int wanted = 0;
  do {
    wanted = looks_wanted_;
    look_once();
  } while ((looks_wanted_ -= wanted) > 0);
}

// Looks once more after the other nodes have gone: their last notifications may have been lost.
void OtherNodes::look_once() {
  if (stopped_) return;
  hooks_.look();
  const bool is_alone = peers_.is_alone();
  const bool was_alone = was_alone_.exchange(is_alone);
  if (was_alone && is_alone) return;
  if (is_alone) live_.forget_logs();
  if (is_alone || !peers_.hears()) wake_conversations();
  look_at_tasks();
  take_turns();
}

void OtherNodes::look_at_tasks() {
  const std::vector<store::Grown> followed = live_.followed();
  if (const auto now = base::SteadyTime::now(); now - said_at_.load() >= kSayAgain) {
    said_at_ = now;
    peers_.follow(followed);
  }
  std::unordered_set<task::TaskKey> keys;
  for (const store::Grown& task : followed) {
    if (!is_conversation(task.task)) keys.insert(task.task);
  }
  for (const task::TaskKey task : turns_.running_tasks()) keys.insert(task);
  for (const task::TaskKey task : turns_.questions().tasks()) keys.insert(task);
  if (keys.empty()) return;
  const auto ends = peers_.ends({keys.begin(), keys.end()});
  if (!ends) return spdlog::warn("cannot read the changes of other nodes: {}", ends.error().for_log);
  for (const store::TaskEnd& end : *ends) {
    keys.erase(end.task);
    reader_.changed_elsewhere(end.task, end.last);
    delegation_.changed_elsewhere(end);
  }
  for (const task::TaskKey gone : keys) {
    live_.forget(gone);
    turns_.gone_elsewhere(gone);
  }
}

// Takes as many turns as this node has free slots for, if other nodes have turns that wait.
void OtherNodes::take_turns() {
  const auto room = turns_.room();
  if (room.empty()) return;
  const auto nodes = peers_.nodes();
  if (!nodes) return;
  const bool any_wait = std::ranges::any_of(
      *nodes, [&](const store::Node& node) { return node.id != peers_.self() && node.report.queued > 0; });
  if (!any_wait) return;
  for (const auto& [agent, most] : room) take_turns(agent, most);
}

void OtherNodes::take_turns(const task::AgentName& agent, int most) {
  const auto taken = std::make_shared<std::vector<task::TaskHead>>();
  auto take = [this, agent, most, taken]() -> base::Result<void> {
    auto heads = peers_.take_queued({agent}, most);
    if (!heads) return base::fail(std::move(heads.error()));
    *taken = std::move(*heads);
    return {};
  };
  inbox_.write(std::move(take), [this, taken](const base::Result<void>& written) {
    if (!written) return;  // their node still has them
    std::vector<store::Grown> grown;
    for (const task::TaskHead& head : *taken) {
      grown.push_back({head.key, head.last_event});
      turns_.schedule(head);
    }
    peers_.notify(grown);
  });
}

// Recovers the tasks as they are stored now: some may have continued or ended since.
void OtherNodes::recover(const std::vector<task::TaskKey>& tasks) {
  std::vector<task::TaskHead> heads;
  std::vector<task::TaskKey> again;
  for (const task::TaskKey task : tasks) {
    auto row = store_.row(task);
    if (!row && row.error().code != base::ErrorCode::task_not_found) again.push_back(task);
    if (!row || row->owner != peers_.self()) continue;
    // The other node may have changed it without telling: a log in memory from before must not be read.
    reader_.changed_elsewhere(task, row->head.last_event);
    heads.push_back(std::move(row->head));
  }
  if (!heads.empty()) spdlog::info("took over unfinished tasks of a node that is gone: {}", heads.size());
  // Also without tasks: the node may have ended tasks without canceling their children.
  if (!heads.empty() || again.empty()) {
    const std::vector<task::TaskHead> all = heads;
    if (auto recovered = hooks_.recover(std::move(heads)); !recovered) {
      spdlog::warn("cannot take over the tasks of a node that is gone; retrying: {}",
                   recovered.error().for_log);
      for (const task::TaskHead& head : all) again.push_back(head.key);
    }
  }
  if (again.empty()) return;
  background_.timers().after(kRecoverAgain,
                             [this, again] { background_.run([this, again] { recover(again); }); });
}

}  // namespace baton::engine
