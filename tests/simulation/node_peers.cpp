#include "node_peers.h"

#include <algorithm>
#include <utility>

#include "world.h"

namespace baton::simulation {

using std::chrono::milliseconds;

namespace {

constexpr Time kRenewal = milliseconds(1'000), kBesideOthers = milliseconds(200), kJoining = milliseconds(30),
               kAdoptEvery = milliseconds(5'000);

}  // namespace

NodePeers::NodePeers(World& world, SharedStore& shared, NodeView& view, store::NodeId node,
                     std::function<void()> on_lost)
    : world_(world),
      shared_(shared),
      view_(view),
      node_(node),
      on_lost_(std::move(on_lost)),
      is_deaf_(world.has_deaf_nodes && node.value % 2 == 1) {}

void NodePeers::join() {
  shared_.peers[node_.value] = this;
  is_renewing_ = true;
  world_.fibers.spawn([this] { renew(); });
  world_.fibers.spawn([this] { pass_on(); });
  while (!has_joined_) world_.fibers.wait(joined_);
  ask_all();
}

void NodePeers::renew() {
  while (!is_leaving_) {
    if (shared_.has_outage()) {
      alone_until_ = leads_until_ = {};
    } else if (!round()) {
      is_renewing_ = false;
      alone_until_ = leads_until_ = {};
      return on_lost_();
    }
    rest();
  }
  is_renewing_ = false;
  world_.fibers.wake_all(looks_);
}

void NodePeers::rest() {
  const Time pause = !has_joined_ ? kJoining : has_others_ ? kBesideOthers : kRenewal;
  if (!is_leaving_) world_.fibers.wait(looks_, world_.fibers.now() + pause);
}

// Returns false if the node is dead.
bool NodePeers::round() {
  const Time start = world_.fibers.now();
  if (world_.random.chance(world_.features.slow_reads))
    world_.fibers.sleep(milliseconds(world_.random.below(300)));
  if (shared_.has_outage()) return true;
  const auto own = shared_.nodes.find(node_.value);
  if (own == shared_.nodes.end()) return false;
  own->second.lease_until = world_.fibers.now() + kLease;
  renewed_ = world_.fibers.now();
  if (own->second.is_asked_to_drain && !std::exchange(was_asked_, true)) {
    is_asked_ = true;
    world_.fibers.wake_all(news_came_);
  }
  note_others(start);
  own->second.is_joining = !has_joined_;
  say();
  judge();
  if (agents_ && world_.fibers.now() >= adopts_at_) {
    adopts_at_ = world_.fibers.now() + kAdoptEvery;
    const auto tasks = shared_.adopt(node_, &*agents_);
    adopted_.insert(adopted_.end(), tasks.begin(), tasks.end());
    if (!tasks.empty()) SOMETIMES(left_tasks_adopted);
    takes_over_ |= !tasks.empty();
  }
  if (takes_over_) world_.fibers.wake_all(news_came_);
  lead(start);
  return true;
}

void NodePeers::say() {
  if (!report_) return;
  is_reporting_ = true;
  const store::NodeReport report = report_();
  is_reporting_ = false;
  world_.fibers.wake_all(called_);
  const auto own = shared_.nodes.find(node_.value);
  if (own != shared_.nodes.end()) own->second.report = report;
}

// Runs as one statement: it never yields.
void NodePeers::note_others(Time start) {
  bool is_known = true, any = false;
  SharedStore::NodeRow& own = shared_.nodes.at(node_.value);
  std::erase_if(watched_, [&](const auto& one) { return !shared_.nodes.contains(one.first); });
  for (const auto& [number, row] : shared_.nodes) {
    if (number == node_.value) continue;
    any = true;
    auto& [lease, since] = watched_[number];
    if (lease != row.lease_until) {
      lease = row.lease_until;
      since = renewed_;
    }
    is_known = is_known && (row.knows >= node_.value || row.has_left);
    own.knows = std::max(own.knows, number);
  }
  if (any) {
    alone_until_ = {};
    if (!std::exchange(has_others_, true)) ++crowds_;
    is_reliable_ = false;
  } else {
    if (std::exchange(has_others_, false)) {
      alone_again_ = true;
      world_.fibers.wake_all(news_came_);
    }
    if (is_reliable_) alone_until_ = start + std::min(kLease, kGoneAfter);
  }
  if (!is_known || has_joined_) return;
  has_joined_ = true;
  world_.fibers.wake_all(joined_);
}

bool NodePeers::is_judged_dead(std::int64_t number, const SharedStore::NodeRow& row) const {
  if (row.has_left) return true;
  const Time now = world_.fibers.now();
  if (now < shared_.up_since() + kLease) return false;
  const auto watched = watched_.find(number);
  if (watched == watched_.end() || now - watched->second.second < kGoneAfter) return false;
  return row.lease_until < now || !world_.has_process(row.process);
}

void NodePeers::judge() {
  while (true) {
    const auto dead = std::ranges::find_if(shared_.nodes, [&](const auto& one) {
      return one.first != node_.value && is_judged_dead(one.first, one.second);
    });
    if (dead == shared_.nodes.end()) return;
    const store::NodeId node{dead->first};
    if (!dead->second.has_left && world_.fibers.is_frozen(dead->second.process))
      SOMETIMES(frozen_past_its_lease);
    const auto tasks =
        shared_.take_over(node_, node, dead->second.lease_until, agents_ ? &*agents_ : nullptr);
    adopts_at_ = {};
    if (!tasks) continue;
    takes_over_ = true;
    if (tasks->empty()) continue;
    SOMETIMES(tasks_taken_over);
    adopted_.insert(adopted_.end(), tasks->begin(), tasks->end());
  }
}

void NodePeers::lead(Time start) {
  const Time now = world_.fibers.now();
  if (!has_joined_) return;
  if (shared_.leader != node_.value) {
    if (shared_.leader != 0 && now < shared_.leader_until) return;
    shared_.leader = node_.value;
    leads_from_ = now;
  }
  leads_until_ = start + kGoneAfter;
  shared_.leader_until = std::max(shared_.leader_until, leads_until_);
}

bool NodePeers::leads() const {
  const Time now = world_.fibers.now();
  return leads_from_ <= now && now < leads_until_ && shared_.leader == node_.value;
}

bool NodePeers::is_alone() const {
  return world_.fibers.now() < alone_until_;
}

bool NodePeers::has_news() const {
  return !heard_.empty() || takes_over_ || !followed_by_others_.empty() || has_missed_ || has_newcomer_ ||
         alone_again_ || (is_asked_ && listener_ != nullptr);
}

void NodePeers::pass_on() {
  while (true) {
    while (!has_news()) world_.fibers.wait(news_came_);
    Listener* const listener = listener_;
    const bool takes_over = std::exchange(takes_over_, false);
    const auto adopted = std::exchange(adopted_, {});
    const auto heard = std::exchange(heard_, {});
    const auto followed = std::exchange(followed_by_others_, {});
    const bool newcomer = std::exchange(has_newcomer_, false);
    const bool missed = std::exchange(has_missed_, false), again = std::exchange(alone_again_, false);
    const int crowds = crowds_;
    is_calling_ = true;
    if (listener != nullptr) {
      if (takes_over) listener->adopted(adopted);
      std::vector<store::Grown> grown;
      for (const auto& [task, last] : heard) grown.push_back({task, last});
      if (!grown.empty()) listener->heard(grown);
      if (newcomer) listener->has_newcomer();
      if (!followed.empty()) listener->others_follow(followed);
      if (missed || again) listener->missed();
      if (std::exchange(is_asked_, false)) listener->asked_to_drain();
    }
    if (again && crowds == crowds_) {
      is_reliable_ = true;
      SOMETIMES(alone_again);
    }
    is_calling_ = false;
    world_.fibers.wake_all(called_);
  }
}

void NodePeers::listen(Listener* listener) {
  listener_ = listener;
  world_.fibers.wake_all(news_came_);
  while (is_calling_) world_.fibers.wait(called_);
}

void NodePeers::hear(const Word& word) {
  if (is_deaf_) SOMETIMES(word_reached_a_deaf_node);
  if (is_deaf_ || world_.fibers.now() < cut_until_) return;
  word(*this);
  world_.fibers.wake_all(news_came_);
}

void NodePeers::cut_bus(Time time) {
  cut_until_ = world_.fibers.now() + time;
  const int process = shared_.nodes.contains(node_.value) ? shared_.nodes.at(node_.value).process : 0;
  if (process == 0) return;
  SOMETIMES(bus_was_cut);
  world_.fibers.spawn(
      [this, time] {
        world_.fibers.sleep(time);
        has_missed_ = true;
        ask_all();
        world_.fibers.wake_all(news_came_);
      },
      process);
}

void NodePeers::send(const Word& word) {
  if (!has_others_) return;
  Random& random = world_.random;
  for (const auto& [number, peer] : shared_.peers) {
    if (number == node_.value) continue;
    const bool calm = world_.calm();
    if (!calm && random.chance(world_.features.bus_drops)) continue;
    const int times = !calm && random.chance(world_.features.bus_doubles) ? 2 : 1;
    for (int left = times; left > 0; --left) {
      const Time late = milliseconds(random.chance(world_.features.bus_delays) ? random.below(2'000) : 0);
      world_.fibers.spawn(
          [&shared = shared_, &fibers = world_.fibers, to = number, late, word] {
            fibers.sleep(late + std::chrono::microseconds(100));
            const auto found = shared.peers.find(to);
            if (found != shared.peers.end()) found->second->hear(word);
          },
          0);
    }
  }
}

void NodePeers::notify(const std::vector<store::Grown>& tasks) {
  send([tasks](NodePeers& other) {
    for (const store::Grown& one : tasks) {
      task::EventNumber& last = other.heard_[one.task];
      last = std::max(last, one.last);
    }
  });
}

void NodePeers::notify_followers(const std::vector<store::Grown>& tasks) {
  if (!has_others_) return;
  const auto followed = is_deaf_ ? tasks : followed_.of(tasks, base::SteadyTime::now());
  if (!followed.empty()) notify(followed);
}

void NodePeers::follow(const std::vector<store::Grown>& tasks) {
  if (tasks.empty()) return;
  send([tasks](NodePeers& other) {
    other.followed_.add(tasks, base::SteadyTime::now());
    other.followed_by_others_.insert(other.followed_by_others_.end(), tasks.begin(), tasks.end());
  });
}

void NodePeers::ask_all() {
  followed_.miss(base::SteadyTime::now());
  send([](NodePeers& other) { other.has_newcomer_ = true; });
}

void NodePeers::announce(std::vector<store::NodeAgent> agents, std::function<store::NodeReport()> report) {
  std::ranges::sort(agents, {}, &store::NodeAgent::name);
  while (is_reporting_) world_.fibers.wait(called_);
  agents_ = std::move(agents);
  report_ = std::move(report);
  const auto own = shared_.nodes.find(node_.value);
  if (own != shared_.nodes.end()) own->second.agents = *agents_;
  adopts_at_ = {};
  world_.fibers.wake_all(looks_);
}

base::Result<std::vector<store::Node>> NodePeers::nodes() const {
  shared_.take_time();
  std::vector<store::Node> nodes;
  for (const auto& [number, row] : shared_.nodes) {
    if (row.has_left) continue;
    const auto left = std::chrono::duration_cast<milliseconds>(row.lease_until - world_.fibers.now());
    nodes.push_back({{number},
                     "node",
                     "1",
                     row.started,
                     left,
                     row.report,
                     {},
                     row.is_joining,
                     row.is_asked_to_drain,
                     row.agents});
  }
  return nodes;
}

base::Result<void> NodePeers::ask_to_drain(store::NodeId node) {
  const auto row = shared_.nodes.find(node.value);
  if (row == shared_.nodes.end()) return base::fail(base::ErrorCode::not_found, "node not found");
  row->second.is_asked_to_drain = true;
  return {};
}

void NodePeers::leave() {
  view_.retire();
  is_leaving_ = true;
  world_.fibers.wake_all(looks_);
  while (is_renewing_) world_.fibers.wait(looks_);
  alone_until_ = leads_until_ = {};
  const auto own = shared_.nodes.find(node_.value);
  if (own == shared_.nodes.end()) return;
  own->second.has_left = true;
  own->second.lease_until = std::min(own->second.lease_until, world_.fibers.now());
}

}  // namespace baton::simulation
