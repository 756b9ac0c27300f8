#include "process.h"

#include <algorithm>
#include <iterator>

#include "agents_here.h"
#include "plan_agents.h"
#include "world.h"

namespace baton::simulation {

using std::chrono::milliseconds;

Process::Process(World& world, int id, int place)
    : world_(world), id_(id), place_(place), clock_(world.clock), watched_(world.store, world.model) {}

bool Process::is_dead() const {
  return peers_ && world_.shared.is_dead(peers_->self());
}

// Joins the other nodes.
void Process::enter() {
  while (world_.shared.has_outage()) world_.fibers.sleep(milliseconds(100));
  const store::NodeId node = world_.shared.enter(id_);
  view_.emplace(world_.shared, node, id_);
  peers_.emplace(world_, world_.shared, *view_, node, [this] {
    SOMETIMES(ended_as_it_was_dead);
    world_.fibers.sleep(milliseconds(world_.random.below(50)));  // it still tries to write
    world_.kill(this, false);
  });
  peers_->join();
}

store::FaultPlan Process::plan() {
  store::FaultPlan plan;
  const auto late = [this] { world_.fibers.sleep(milliseconds(world_.random.between(0, 300))); };
  plan.group = [this, late](int) {
    Random& random = world_.random;
    const Features& features = world_.features;
    store::GroupFaults faults;
    if (world_.calm()) return faults;
    const bool internal = random.chance(features.internal);
    if (internal) {
      faults.failure = base::ErrorCode::internal;
      SOMETIMES(group_decided_again);
    }
    if (random.chance(features.refused) || internal) {
      faults.applied_max = static_cast<int>(random.below(3));
      SOMETIMES(change_refused);
    }
    faults.commit_fails = world_.disk_is_full || random.chance(features.refused);
    if (faults.commit_fails) SOMETIMES(commit_refused);
    if (random.chance(features.late)) faults.before_commit = late;
    if (random.chance(features.late)) faults.after_commit = late;
    if (features.kills_at_commit && random.chance(5)) {
      faults.after_commit = [this] {
        SOMETIMES(killed_between_commit_and_answer);
        world_.kill(this, world_.features.power_cuts && world_.random.chance(500));
      };
    }
    return faults;
  };
  plan.flush = [this, late](int) {
    Random& random = world_.random;
    store::FlushFaults faults;
    if (world_.calm() || view_) return faults;
    faults.fails = world_.features.flush_failures && random.chance(4);
    faults.happens_all_the_same = random.chance(500);
    if (faults.fails) SOMETIMES(flush_failed);
    if (faults.fails && faults.happens_all_the_same) SOMETIMES(flush_failed_but_happened);
    if (world_.features.slow_disk || random.chance(world_.features.late)) faults.before = late;
    return faults;
  };
  return plan;
}

void Process::build() {
  const Features& features = world_.features;
  if (view_) {
    store_.emplace(
        *view_, *view_, *view_, [this] { view_->roll_back(); }, plan());
    store_->set_retention(*view_);
  } else {
    store_.emplace(
        watched_, watched_, watched_.operators(), [this] { watched_.roll_back(); }, plan());
    store_->set_retention(watched_);
  }
  std::vector<agents::Agent> agents = make_agents(world_);
  std::ranges::move(make_plan_agents(world_), std::back_inserter(agents));
  // The first node has all agents.
  if (features.differ && place_ > 0) {
    std::erase_if(agents, [&](const agents::Agent& agent) {
      return agent.name.value == (place_ == 1 ? "careful" : "brief");
    });
  }
  catalogue_.emplace(std::move(agents));
  for (agents::Agent& agent : make_ask_agents()) catalogue_->add_hidden(std::move(agent));
  engine::EngineOptions options;
  options.slots = features.slots;
  options.queue_max = features.queue_max;
  options.reply_wait = milliseconds(world_.random.between(1'000, 60'000));
  options.drain_grace = milliseconds(world_.random.between(0, 2'000));
  options.output_delay = milliseconds(world_.random.chance(500) ? world_.random.between(1, 50) : 0);
  // Off, because programs are killed at random here and no turn is to blame.
  options.quarantine = false;
  engine::EngineWiring wiring;
  wiring.on_flush_failed = [this](const base::Error&) {
    world_.kill(this, world_.features.power_cuts && world_.random.chance(500));
  };
  if (peers_) wiring.peers = &*peers_;
  wiring.on_asked_to_drain = [this] { stop(); };
  wiring.on_deliveries_written = [this] { notifier_->wake(); };
  if (features.ages) {
    options.retention.completed = options.retention.canceled = features.kept;
    options.retention.failed = options.retention.rejected = features.kept;
  }
  options.retention.waiting = milliseconds(0);
  engine_.emplace(*store_, *store_, *store_, *catalogue_, clock_, options, wiring);
  engine_->set_retention(*store_);
  notify::NotifierOptions webhooks;
  webhooks.senders = 4;
  webhooks.retry.max = std::chrono::seconds(30);
  notifier_.emplace(engine_->deliveries(), clock_, webhooks, render);
}

void Process::run() {
  // Opening a store makes durable what is in it, before anybody reads it.
  if (world_.features.nodes == 1) static_cast<void>(watched_.flush());
  if (world_.features.nodes > 1) enter();
  build();
  recovers_ = true;
  const auto started = engine_->start();
  recovers_ = false;
  if (!started) {
    if (started.error().code != base::ErrorCode::unavailable &&
        started.error().code != base::ErrorCode::internal) {
      world_.fibers.fail("recovery failed: " + started.error().for_caller);
    }
    world_.kill(this, false);  // the program ends; its operator starts it again
  }
  notifier_->start();
  if (peers_) announce();
  serves_ = true;
  while (!stopping_) world_.fibers.wait(orders_);
  serves_ = false;
  if (peers_) peers_->announce({}, {});
  engine_->drain();
  notifier_->stop();
  for (int tries = 0; !open_calls().empty(); ++tries) {
    if (tries > 1'000) world_.fibers.fail("not answered by a process that stopped:" + open_calls());
    world_.fibers.sleep(milliseconds(10));
  }
  notifier_.reset();
  engine_.reset();
  world_.ended(this);
}

void Process::announce() {
  std::vector<store::NodeAgent> agents;
  for (const agents::Agent* agent : catalogue_->all()) agents.push_back({agent->name, {}});
  for (const agents::Agent* agent : catalogue_->hidden()) agents.push_back({agent->name, {}});
  peers_->announce(std::move(agents), [this] {
    const auto counts = engine_->counts().turns;
    return store::NodeReport{counts.running, counts.queued, stopping_};
  });
}

void Process::stop() {
  stopping_ = true;
  world_.fibers.wake_all(orders_);
}

std::string Process::open_calls() {
  std::string open;
  for (const auto& weak : calls_) {
    const auto call = weak.lock();
    if (call && !call->answered) open += std::string(" ") + call->what;
  }
  return open;
}

void Process::lose_calls() {
  for (const auto& weak : calls_) {
    if (const auto call = weak.lock()) {
      call->lost = true;
      world_.fibers.wake_all(call->over);
    }
  }
}

}  // namespace baton::simulation
