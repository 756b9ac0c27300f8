#include "store/postgres/nodes/lease.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "store/postgres/lane/locks.h"
#include "store/postgres/nodes/bus.h"

namespace baton::store::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// kSettling: the time that other nodes may need to reconnect after this one has.
constexpr milliseconds kRetryEvery(200), kSettling(2'000), kAdoptEvery(5'000);
// Longer than the database is away during a restart.
constexpr milliseconds kInTouch(2'500);
// Intervals between renewals: while other nodes exist, short enough that they notice a missing renewal in
// time; and while joining.
constexpr milliseconds kBesideOthers(200), kJoining(30);

std::int64_t count_of(steady_clock::time_point time) {
  return time.time_since_epoch().count();
}

}  // namespace

Lease::Lease(const Address& address, std::int64_t node, LeaseTimes times, Events events)
    : address_(address),
      node_(node),
      times_(times),
      events_(std::move(events)),
      knows_(node),
      thread_([this] { run(); }) {}

Lease::~Lease() {
  leave();
}

void Lease::leave() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Lease::look() {
  {
    std::lock_guard lock(mutex_);
    looks_ = true;
  }
  changed_.notify_all();
}

bool Lease::await_joined(milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return has_joined_.load(); });
}

void Lease::announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report) {
  {
    std::unique_lock lock(mutex_);
    agents_ = std::move(agents);
    has_announced_ = true;
    adopts_soon_ = true;
    report_ = std::move(report);
    changed_.wait(lock, [this] { return !is_asking_; });
  }
  look();
}

bool Lease::is_alone() const {
  return count_of(steady_clock::now()) < alone_until_;
}

bool Lease::is_in_touch() const {
  return count_of(steady_clock::now()) < in_touch_until_;
}

// A session can lose its lock without noticing, and another session can get it. So a new leader waits for as
// long as the former one may need to notice, and a leader relies on the lock only for that time after each
// check.
bool Lease::leads() const {
  const std::int64_t now = count_of(steady_clock::now());
  return leads_from_ <= now && now < leads_until_;
}

// Waits for the time or until there is work. Returns false if the lease must stop.
bool Lease::rest(milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return is_stopping_ || looks_; });
  looks_ = false;
  return !is_stopping_;
}

milliseconds Lease::pause() const {
  if (!has_joined_) return std::min(kJoining, times_.renewal);
  return has_others_ ? std::min(kBesideOthers, times_.renewal) : times_.renewal;
}

void Lease::connect() {
  auto link = std::make_unique<Link>(address_);
  events_.check(*link);
  lock_node(*link, node_);
  // A renewal matters only now, so it does not wait for a synchronous standby, which may be away. Takeovers
  // are confirmed by the first group that depends on them.
  link->ask("SET synchronous_commit = local");
  if (renewed_ == Time()) {
    call_others(*link, node_);  // joining waits for the other nodes
  } else {
    judges_from_ = std::max(judges_from_, steady_clock::now() + kSettling);
  }
  link_ = std::move(link);
}

void Lease::note_loss() {
  link_.reset();
  is_leader_ = false;
  alone_until_ = 0;
  leads_until_ = 0;
}

void Lease::run() {
  pthread_setname_np(pthread_self(), "lease");
  for (bool goes_on = true; goes_on;) {
    try {
      if (!link_) connect();
      if (!round()) {
        note_loss();
        return events_.on_lost();
      }
      goes_on = rest(pause());
    } catch (const LinkFailure& failure) {
      if (failure.is_lost() || !link_ || link_->is_lost()) note_loss();
      goes_on = rest(kRetryEvery);
    } catch (const sql::Failure&) {  // the connection leads to a wrong database, or one that is not ready
      note_loss();
      goes_on = rest(kRetryEvery);
    }
  }
  give_back();
}

void Lease::give_back() {
  alone_until_ = 0;
  leads_until_ = 0;
  try {
    if (!link_) return;
    postgres::leave(*link_, node_);
    unlock_all(*link_);
    if (has_others_) call_others(*link_, node_);
  } catch (const sql::Failure&) {  // the lease will expire by itself
  }
}

// Renews the lease and acts on the state of other nodes. Returns false if this node is dead.
bool Lease::round() {
  const NodeReport said = report();
  const Time start = steady_clock::now();
  const auto renewed = renew(*link_, node_, {times_.length, knows_, !has_joined_, said, database_});
  database_ = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start);
  if (!renewed) return false;
  // The cause that delayed this node's renewal may have delayed all nodes, so it must not declare them dead
  // yet.
  const Time before = std::exchange(renewed_, steady_clock::now());
  in_touch_until_ = count_of(renewed_ + times_.renewal + kInTouch);
  if (before != Time() && renewed_ - before > kGoneAfter)
    judges_from_ = std::max(judges_from_, renewed_ + times_.length);
  // Likewise after a start of the database, but once only: if the clock was set back since, it would place
  // the start in the future until it has caught up.
  if (std::exchange(up_since_, renewed->up_since) != renewed->up_since && !renewed->is_up_long)
    judges_from_ = std::max(judges_from_, renewed_ + times_.length);
  settle_taken();
  note_others(renewed->others, start);
  if (renewed->is_asked_to_drain && !std::exchange(has_been_asked_, true)) events_.on_asked_to_drain();
  for (const SeenNode& other : renewed->others) {
    if (!other.has_left && !(renewed_ >= judges_from_ && is_dead(other))) continue;
    const std::vector<task::AgentName> own = agents();
    if (take_over(*link_, node_, times_.length, other, has_announced_ ? &own : nullptr, taken_))
      report_adopted();
    look();
  }
  adopt_left(start);
  lead(start);
  say();
  return true;
}

std::vector<task::AgentName> Lease::agents() {
  std::lock_guard lock(mutex_);
  std::vector<task::AgentName> names;
  for (const NodeAgent& agent : agents_) names.push_back(agent.name);
  return names;
}

// Adopts tasks of this node's agents that belong to no node, because the node that took them over lacks the
// agent.
void Lease::adopt_left(Time start) {
  if (!has_announced_ || (start < adopts_at_ && !adopts_soon_.exchange(false))) return;
  adopts_at_ = start + kAdoptEvery;
  adopt(*link_, node_, agents(), taken_);
  if (taken_->empty()) {
    taken_.reset();
  } else {
    report_adopted();
  }
}

void Lease::report_adopted() {
  events_.on_adopted(*std::exchange(taken_, std::nullopt));
}

// Finds out which tasks of an unconfirmed takeover are this node's: the connection failed before the answer
// came.
void Lease::settle_taken() {
  if (!taken_) return;
  taken_ = own_of(*link_, node_, *taken_);
  report_adopted();
}

void Lease::note_others(const std::vector<SeenNode>& others, Time start) {
  const auto gone = std::erase_if(watched_, [&](const auto& watched) {
    return std::ranges::find(others, watched.first, &SeenNode::id) == others.end();
  });
  if (gone > 0) adopts_soon_ = true;
  bool is_known = true;
  for (const SeenNode& other : others) {
    Watched& watched = watched_[other.id];
    if (watched.lease != other.lease) watched = {other.lease, renewed_};
    is_known = is_known && (other.knows >= node_ || other.has_left);
  }
  if (!others.empty()) {
    alone_until_ = 0;
    if (!has_others_.exchange(true)) ++crowds_;
    // Other nodes wait until this node has published that it knows them.
    const std::int64_t highest = std::max(knows_, others.back().id);
    if (std::exchange(knows_, highest) != highest) look();
  } else {
    if (has_others_.exchange(false)) events_.on_alone_again(crowds_);
    if (memory_is_of_ == crowds_) alone_until_ = count_of(start + std::min(times_.length, kGoneAfter));
  }
  if (!is_known || has_joined_) return;
  {
    std::lock_guard lock(mutex_);
    has_joined_ = true;
    looks_ = true;  // to publish it
  }
  changed_.notify_all();
}

bool Lease::is_dead(const SeenNode& other) {
  // A node that is still joining has not watched others, so for it an expired lease must be long over.
  if (!has_joined_ && other.is_long_over) return true;
  const auto unchanged = renewed_ - watched_[other.id].since;
  if (unchanged < kGoneAfter) return false;
  // If the database's clock was set back, it shows the end of the lease too late.
  return other.is_over || unchanged > times_.length || !has_sessions(*link_, other.id);
}

void Lease::lead(Time start) {
  if (!has_joined_) return;
  if (!is_leader_) {
    if (!try_lead(*link_)) return;
    is_leader_ = true;
    leads_from_ = count_of(has_others_ ? steady_clock::now() + kGoneAfter : start);
  }
  leads_until_ = count_of(start + std::min(times_.length, kGoneAfter));
}

// Returns this node's report.
NodeReport Lease::report() {
  std::function<NodeReport()> ask;
  {
    std::lock_guard lock(mutex_);
    ask = report_;
    is_asking_ = true;
  }
  const NodeReport report = ask ? ask() : NodeReport();
  {
    std::lock_guard lock(mutex_);
    is_asking_ = false;
  }
  changed_.notify_all();
  return report;
}

// Publishes this node's agents if they have changed since they were last published.
void Lease::say() {
  std::string agents;
  {
    std::lock_guard lock(mutex_);
    agents = encode_agents(agents_);
  }
  if (said_ == agents) return;
  set_agents(*link_, node_, agents);
  said_ = agents;
}

}  // namespace baton::store::postgres
