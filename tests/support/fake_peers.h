// FakePeers: other nodes that the test controls: whether there are any, how far their tasks are, and what
// they report.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "store/peers.h"

namespace baton::test {

class FakePeers final : public store::Peers {
 public:
  static constexpr store::NodeId kSelf{1}, kOther{2};

  store::NodeId self() const override { return kSelf; }
  bool is_alone() const override { return alone; }
  bool is_in_touch() const override { return in_touch; }
  bool hears() const override { return hearing; }
  void listen(Listener* now) override {
    std::lock_guard lock(mutex_);
    listener_ = now;
  }
  void notify(const std::vector<store::Grown>& tasks) override {
    std::lock_guard lock(mutex_);
    told_.insert(told_.end(), tasks.begin(), tasks.end());
  }
  void notify_followers(const std::vector<store::Grown>& tasks) override {
    std::lock_guard lock(mutex_);
    told_followers_.insert(told_followers_.end(), tasks.begin(), tasks.end());
  }
  void follow(const std::vector<store::Grown>& tasks) override {
    std::lock_guard lock(mutex_);
    followed_.insert(followed_.end(), tasks.begin(), tasks.end());
  }
  bool is_followed_elsewhere(task::TaskKey) override { return followed; }
  base::Result<Claim> claim(const task::Caller&, const std::string& name) override {
    return std::make_shared<const std::string>(name);
  }
  base::Result<std::vector<store::TaskEnd>> ends(const std::vector<task::TaskKey>& tasks) const override {
    std::lock_guard lock(mutex_);
    ++looks_;
    std::vector<store::TaskEnd> found;
    for (const store::TaskEnd& end : ends_) {
      if (std::find(tasks.begin(), tasks.end(), end.task) != tasks.end()) found.push_back(end);
    }
    return found;
  }
  base::Result<std::vector<task::TaskHead>> take_queued(const std::vector<task::AgentName>&, int) override {
    return std::vector<task::TaskHead>();
  }
  void announce(std::vector<store::NodeAgent> agents, std::function<store::NodeReport()> report) override {
    std::lock_guard lock(mutex_);
    announced_ = std::move(agents);
    report_ = std::move(report);
  }
  base::Result<std::vector<store::Node>> nodes() const override {
    if (before_nodes) before_nodes();
    std::lock_guard lock(mutex_);
    ++reads_;
    return nodes_;
  }
  base::Result<void> ask_to_drain(store::NodeId node) override {
    std::lock_guard lock(mutex_);
    if (!nodes_) return base::fail(nodes_.error());
    for (store::Node& known : *nodes_) {
      if (known.id == node) return known.is_asked_to_drain = true, base::Result<void>();
    }
    return base::fail(base::ErrorCode::not_found, "node not found");
  }
  void leave() override {}
  bool leads() const override { return leading; }

  // Actions of the other nodes. `say`, `ask_for`, `come`, `give` and `lose` call the listener.
  void say(const std::vector<store::Grown>& tasks) {
    if (Listener* const listener = heard_by()) listener->heard(tasks);
  }
  void ask_for(const std::vector<store::Grown>& tasks) {
    if (Listener* const listener = heard_by()) listener->others_follow(tasks);
  }
  void come() {
    if (Listener* const listener = heard_by()) listener->has_newcomer();
  }
  void give(const std::vector<task::TaskKey>& tasks) {
    if (Listener* const listener = heard_by()) listener->adopted(tasks);
  }
  void lose() {
    if (Listener* const listener = heard_by()) listener->missed();
  }
  void set_ends(std::vector<store::TaskEnd> ends) {
    std::lock_guard lock(mutex_);
    ends_ = std::move(ends);
  }
  void set_nodes(base::Result<std::vector<store::Node>> nodes) {
    std::lock_guard lock(mutex_);
    nodes_ = std::move(nodes);
  }
  // What this node has announced, and how often it has read the nodes (`reads`) and the ends (`looks`).
  std::vector<store::NodeAgent> announced() const {
    std::lock_guard lock(mutex_);
    return announced_;
  }
  store::NodeReport report() const {
    std::lock_guard lock(mutex_);
    return report_();
  }
  int reads() const {
    std::lock_guard lock(mutex_);
    return reads_;
  }
  int looks() const {
    std::lock_guard lock(mutex_);
    return looks_;
  }
  std::vector<store::Grown> told() const {
    std::lock_guard lock(mutex_);
    return told_;
  }

  std::vector<store::Grown> told_followers() const {
    std::lock_guard lock(mutex_);
    return told_followers_;
  }
  std::vector<store::Grown> said_to_follow() const {
    std::lock_guard lock(mutex_);
    return followed_;
  }

  // Called when this node is about to read the nodes. Set it before the node starts.
  std::function<void()> before_nodes;

  std::atomic<bool> alone = false, leading = true, followed = false, in_touch = true, hearing = true;

 private:
  Listener* heard_by() const {
    std::lock_guard lock(mutex_);
    return listener_;
  }

  mutable std::mutex mutex_;
  Listener* listener_ = nullptr;
  std::vector<store::Grown> told_, told_followers_, followed_;
  std::vector<store::TaskEnd> ends_;
  base::Result<std::vector<store::Node>> nodes_ = std::vector<store::Node>();
  std::vector<store::NodeAgent> announced_;
  std::function<store::NodeReport()> report_;
  mutable int reads_ = 0, looks_ = 0;
};

}  // namespace baton::test
