#include "world.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "call.h"
#include "clients.h"
#include "plan_cases.h"
#include "plan_checks.h"

namespace baton::simulation {
namespace {

using std::chrono::milliseconds;

World* the_world = nullptr;

// How long everything may take to end after the faults have stopped.
constexpr Time kBound = std::chrono::hours(4);
constexpr milliseconds kJumpMax{20'000};  // of a node's clock
constexpr std::int64_t kStepsBound = 3'000'000;

store::MemoryOptions store_options() {
  store::MemoryOptions options;
  options.keeps_flushed = true;
  return options;
}

}  // namespace

World& world() {
  if (the_world == nullptr) std::abort();
  return *the_world;
}

Features::Features(Random& random, bool with_plans, int all_nodes) : nodes(all_nodes) {
  const auto flip = [&] { return random.chance(600); };
  kills = flip(), power_cuts = flip(), drains = flip(), slow_disk = random.chance(200), full_disk = flip();
  flush_failures = flip(), kills_at_commit = flip();
  hangs = flip(), ignores_cancel = flip(), speaks_late = flip(), asks = flip(), delegates = flip();
  waits = flip();
  breaks_off = flip();
  repeats = flip(), cancels = flip(), follows = flip(), lists = flip(), webhooks = flip(), reopens = flip();
  messages = flip();
  refused = flip() ? 0 : static_cast<int>(random.below(60));
  internal = flip() ? 0 : static_cast<int>(random.below(40));
  late = flip() ? 0 : static_cast<int>(random.below(200));
  hook_failures = flip() ? 0 : static_cast<int>(random.below(400));
  clients = static_cast<int>(random.between(1, 6));
  slots = static_cast<int>(random.between(1, 8));
  concurrency = static_cast<int>(random.between(1, 4));
  queue_max = static_cast<int>(flip() ? 100 : random.between(1, 6));
  pause = milliseconds(flip() ? 20 : 2'000);
  plans = flip() || with_plans;
  ages = random.chance(400), erases = random.chance(400);
  kept = milliseconds(random.between(100, 20'000));
  freezes = outages = jumps = cuts = differ = false;
  races = slow_reads = bus_drops = bus_delays = bus_doubles = 0;
  if (nodes == 1) return;
  power_cuts = flush_failures = false;  // a database keeps what it has confirmed
  freezes = flip(), outages = flip(), jumps = flip(), cuts = flip(), differ = random.chance(300);
  races = flip() ? 20 : static_cast<int>(random.below(400));
  slow_reads = flip() ? 0 : static_cast<int>(random.below(100));
  bus_drops = flip() ? 0 : static_cast<int>(random.below(1'000));
  bus_delays = flip() ? 0 : static_cast<int>(random.below(300));
  bus_doubles = flip() ? 0 : static_cast<int>(random.below(300));
}

World::World(std::uint64_t seed, std::int64_t steps, bool with_plans, int nodes)
    : random(seed),
      fibers(random),
      clock(fibers),
      features(random, with_plans, nodes),
      has_deaf_nodes(seed % 8 == 5),
      store(clock, store_options()),
      shared(*this, store, model),
      receivers(*this),
      steps_(steps),
      processes_(static_cast<std::size_t>(nodes)) {
  the_world = this;
  if (features.jumps) model.set_clocks_ahead(kJumpMax);
}

World::~World() {
  the_world = nullptr;
}

void World::run() {
  for (int place = 0; place < features.nodes; ++place) start(place);
  for (int number = 1; number <= features.clients; ++number) {
    ++clients_left;
    fibers.spawn([this, number] { std::make_unique<Client>(*this, number).release()->run(); });
  }
  fibers.spawn([this] { harm(); });
  if (features.nodes > 1) fibers.spawn([this] { requeue_some(); });
  if (features.erases) fibers.spawn([this] { erase_some(); });
  while (fibers.steps() < steps_) {
    if (!fibers.step()) fibers.fail("nobody can run");
  }
  calm_ = true;
  disk_is_full = false;
  shared.set_outage(false);
  for (const Process* process : processes_) {
    if (process != nullptr) fibers.thaw(process->id());
  }
  fibers.spawn([this] { close(); });
  const Time until = fibers.now() + kBound;
  while (!closed_) {
    if (!fibers.step()) fibers.fail("nobody can run: " + left_);
    if (fibers.now() > until || fibers.steps() > kStepsBound)
      fibers.fail("not everything has ended in time: " + left_);
  }
}

Process* World::up() {
  std::vector<Process*> serving;
  std::ranges::copy_if(processes_, std::back_inserter(serving),
                       [](const Process* process) { return process != nullptr && process->serves(); });
  if (serving.empty()) return nullptr;
  return serving.size() == 1 ? serving.front() : random.pick(serving);
}

Process* World::here() const {
  const auto found = std::ranges::find_if(processes_, [this](const Process* process) {
    return process != nullptr && process->id() == fibers.process();
  });
  return found == processes_.end() ? nullptr : *found;
}

bool World::has_process(int id) const {
  return std::ranges::any_of(
      processes_, [&](const Process* process) { return process != nullptr && process->id() == id; });
}

bool World::is_dead(int id) const {
  return std::ranges::none_of(processes_, [&](const Process* process) {
    return process != nullptr && process->id() == id && !process->is_dead();
  });
}

void World::start(int place) {
  Process* const process = at(place) = new Process(*this, ++started_, place);
  fibers.spawn([process] { process->run(); }, process->id());
}

void World::note_kill(const Process& process) const {
  for (const auto& [key, task] : model.tasks()) {
    if (task.head().turn_state == task::TurnState::running) SOMETIMES(killed_with_a_turn_running);
    if (task.head().turn_state == task::TurnState::queued) SOMETIMES(killed_with_a_turn_queued);
    if (task::is_waiting(task.head().state)) SOMETIMES(killed_with_a_task_waiting);
  }
  if (model.has_unflushed()) SOMETIMES(killed_with_committed_unflushed);
  if (model.has_unflushed_removal()) SOMETIMES(killed_with_a_removal_unflushed);
  if (model.has_open_group()) SOMETIMES(killed_with_a_group_open);
  if (process.recovers()) SOMETIMES(killed_while_recovering);
  note_plans_killed(model);
}

void World::kill(Process* process, bool power) {
  if (process == nullptr || at(process->place()) != process) return;
  const int id = process->id();
  {
    const auto quiet = fibers.quiet();
    note_kill(*process);
    at(process->place()) = nullptr;
    if (features.nodes == 1) {
      store.roll_back();
      model.rolled_back();
    }
    shared.gone(id);
    if (power) {
      store.lose_unflushed();
      model.lose_unflushed();
      step_calls.power_lost();
    }
    model.note_kill();
    process->lose_calls();
    fibers.note(power ? 2 : 1);
  }
  fibers.kill(id);
}

void World::ended(Process* process) {
  const int id = process->id();
  process->lose_calls();
  shared.gone(id);
  at(process->place()) = nullptr;
  // With several nodes it is leaked, as its fibers may still be on their way out of it.
  if (features.nodes == 1) delete process;
  fibers.note(3);
  fibers.kill(id);  // including agents that still send output
}

// The nemesis: injects the faults.
void World::harm() {
  while (!calm_) {
    fibers.sleep(milliseconds(random.chance(500) ? random.below(200) : random.below(5'000)));
    if (calm_) return;
    const int place = features.nodes == 1 ? 0 : static_cast<int>(random.below(features.nodes));
    Process* const process = at(place);
    if (process == nullptr) {
      start(place);
      continue;
    }
    const std::int64_t what = random.below(features.nodes == 1 ? 10 : 20);
    const bool is_frozen = fibers.is_frozen(process->id());
    if (what < 3 && features.kills) kill(process, features.power_cuts && random.chance(600));
    if (what == 3 && features.drains && process->serves() && !is_frozen) {
      if (process->engine().counts().turns.running > 0) SOMETIMES(drained_with_a_turn_running);
      if (process->peers() != nullptr && random.chance(500)) {
        static_cast<void>(process->peers()->ask_to_drain(process->peers()->self()));
      } else {
        process->stop();
      }
    }
    if (what > 3 && what < 6 && features.full_disk) disk_is_full = !disk_is_full;
    if (what >= 10 && !is_frozen) harm_nodes(process);
  }
}

void World::harm_nodes(Process* process) {
  const std::int64_t what = random.below(4);
  if (what == 0 && features.freezes) freeze(*process);
  if (what == 1 && features.outages && !shared.has_outage()) {
    SOMETIMES(database_was_away);
    shared.set_outage(true);
    fibers.spawn([this, time = milliseconds(random.below(8'000))] {
      fibers.sleep(time);
      shared.set_outage(false);
    });
  }
  if (what == 2 && features.jumps)
    process->set_clock(milliseconds(random.between(-kJumpMax.count(), kJumpMax.count())));
  if (what == 3 && features.cuts && process->peers() != nullptr)
    process->peers()->cut_bus(milliseconds(random.below(3'000)));
}

// Freezes the process, for less or more than its lease.
void World::freeze(Process& process) {
  const int id = process.id();
  fibers.freeze(id);
  fibers.spawn([this, id, time = milliseconds(random.below(random.chance(500) ? 3'000 : 12'000))] {
    fibers.sleep(time);
    if (fibers.is_frozen(id) && is_dead(id)) SOMETIMES(thawed_and_dead);
    fibers.thaw(id);
  });
}

// Runs once the world is calm. Waits until everything has ended, and checks that nothing is left behind.
void World::close() {
  while (!is_over()) {
    for (int place = 0; place < features.nodes; ++place) {
      if (at(place) == nullptr) start(place);
    }
    fibers.sleep(milliseconds(500));
  }
  receivers.check_all();
  for (int place = 0; place < features.nodes; ++place) {
    if (at(place) != nullptr) at(place)->stop();
    while (at(place) != nullptr) fibers.sleep(milliseconds(100));
  }
  check_store();
  check_plans(*this);
  closed_ = true;
}

bool World::is_over() {
  left_ = "no process serves";
  if (up() == nullptr) return false;
  left_ = "a task has not ended";
  if (!all_tasks_end()) return false;
  left_ = "a client is still busy";
  if (clients_left > 0) return false;
  left_ = "a webhook waits";
  const auto waiting = store.delivery_counts();
  if (!waiting || waiting->waiting > 0) return false;
  return std::ranges::all_of(processes_, [this](Process* process) {
    left_ = "a process does not serve";
    return process != nullptr && process->serves() && is_idle(*process);
  });
}

bool World::is_idle(Process& process) {
  const auto counts = process.engine().counts();
  left_ = std::to_string(counts.turns.running) + " slots taken, " + std::to_string(counts.turns.queued) +
          " turns queued, " + std::to_string(counts.live.subscriptions) + " subscriptions at process " +
          std::to_string(process.id());
  for (const auto& agent : process.engine().agent_turns()) {
    if (agent.running > 0) left_ += ", " + agent.agent + " has " + std::to_string(agent.running) + " slots";
  }
  return counts.turns.running == 0 && counts.turns.queued == 0 && counts.live.subscriptions == 0;
}

// Answers plans that ask, and cancels other tasks that wait for their caller. Returns whether all tasks have
// ended.
bool World::all_tasks_end() {
  bool all = true;
  std::vector<task::TaskKey> waiting;
  std::vector<task::TaskHead> asking;
  for (const auto& [key, task] : model.tasks()) {
    if (task::is_terminal(task.head().state)) continue;
    all = false;
    left_ += told(task);
    if (!task::is_waiting(task.head().state)) continue;
    if (plan_of(task.head().agent.value) == nullptr) {
      if (!is_asked_by_plan(task.head().agent.value)) waiting.push_back({key});
    } else if (!task.head().parent) {
      asking.push_back(task.head());
    }
  }
  using Canceled = base::Result<task::TaskKey>;
  for (const task::TaskKey key : waiting) {
    model.note_cancel(key);
    call<Canceled>(*this, "cancel", [key](Process& process, std::function<void(Canceled)> done) {
      process.engine().cancels().cancel(key, std::move(done));
    });
  }
  for (const task::TaskHead& plan : asking) answer(plan);
  return all;
}

void World::answer(const task::TaskHead& plan) {
  using Accepted = base::Result<engine::Accepted>;
  task::Submission submission;
  submission.caller = plan.caller;
  submission.agent = plan.agent;
  submission.task = plan.id;
  submission.ask = plan.ask;
  submission.message.id.value = "calm-" + std::to_string(++answers_);
  submission.message.parts.push_back(task::Part::of_text(random.chance(500) ? "yes" : "no"));
  call<Accepted>(*this, "answer", [&](Process& process, std::function<void(Accepted)> done) {
    process.tasks().submit(submission, std::move(done));
  });
}

// Checks that nothing of the task is left but its sends.
void World::check_gone(task::TaskKey key) {
  const task::TaskHead& head = model.task(key).head();
  const auto events = store.events(key, {}, 1);
  const auto configs = store.configs(key);
  const auto deliveries = store.deliveries({store::DeliveryFilter::State::open, key, {}, {}}, 0, 1);
  const bool is_there = store.row(key) || store.find({head.caller, head.agent, head.id}) || store.line(key) ||
                        (events && !events->empty()) || (configs && !configs->empty()) ||
                        !deliveries->lines.empty();
  if (is_there) fibers.fail("something is left of task " + std::to_string(key.value) + ", which is gone");
}

// Checks that the store has what the model has.
void World::check_store() {
  std::map<std::string, std::int64_t> sends;
  for (const auto& [key, task] : model.tasks()) {
    if (task.gone) {
      check_gone({key});
      continue;
    }
    const auto events = store.events({key}, {}, 1 << 20);
    if (!events || events->size() != task.log.size())
      fibers.fail("the store has lost events of task " + std::to_string(key));
    for (std::size_t at = 0; at < task.log.size(); ++at) {
      if (fingerprint((*events)[at]) != task.log[at].print) fibers.fail("the store has another event");
      const auto* added = std::get_if<task::MessageAdded>(&task.log[at].body);
      if (added == nullptr || added->message.role != task::Role::user || task.head().parent) continue;
      if (!sends.try_emplace(added->message.id.value, key).second) {
        fibers.fail("message " + added->message.id.value + " was stored twice");
      }
    }
    if (task.durable != std::ssize(task.log)) fibers.fail("a task is not durable after a drain");
  }
}

}  // namespace baton::simulation
