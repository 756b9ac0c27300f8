#include "engine/engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>

#include "base/promise.h"
#include "engine/decide/kinds/nothing.h"

namespace baton::engine {

namespace {

// The minimum pause between two counts of callers' tasks, and the minimum ratio between the pause and the
// time that a count takes.
constexpr std::chrono::milliseconds kCountEvery{200};
constexpr int kCountRest = 50;

InboxOptions inbox_options(const EngineOptions& options, const EngineWiring& wiring, TurnStats& stats) {
  InboxOptions inbox;
  inbox.delay = options.output_delay;
  inbox.on_flush_failed = wiring.on_flush_failed;
  inbox.stats = &stats;
  inbox.peers = wiring.peers;
  return inbox;
}

}  // namespace

Engine::Engine(store::TaskStore& store, store::DeliveryStore& deliveries, store::OperatorStore& operators,
               const agents::Catalogue& catalogue, const base::Clock& clock, EngineOptions options,
               EngineWiring wiring)
    : options_(std::move(options)),
      wiring_(std::move(wiring)),
      catalogue_(catalogue),
      clock_(clock),
      operators_(operators),
      inbox_(store, deliveries, live_, inbox_options(options_, wiring_, stats_),
             wiring_.on_deliveries_written),
      background_(options_.disk_retry),
      reader_(store, deliveries, live_, inbox_, background_, wiring_.peers),
      deliveries_(deliveries, reader_, inbox_, clock, wiring_.peers),
      turns_(reader_, inbox_, catalogue, background_, clock, options_, wiring_, stats_),
      push_(reader_, inbox_, options_, wiring_),
      cancels_(store, reader_, inbox_, turns_, catalogue, background_, clock, options_),
      tasks_(store, reader_, inbox_, live_, turns_, push_, cancels_, catalogue, background_, clock, options_,
             wiring_),
      delegation_(reader_, live_, tasks_, cancels_, turns_, inbox_, background_, options_, wiring_.spans),
      conversations_(store, reader_, cancels_, inbox_),
      recovery_(store, options_.quarantine ? &operators : nullptr, inbox_, catalogue, clock,
                wiring_.peers ? wiring_.peers->self() : store::NodeId(),
                [this](task::TaskKey task) { return turns_.runs(task); }),
      schedules_(store, tasks_, inbox_, catalogue, background_, clock, options_.retention),
      actions_(operators, reader_, inbox_, tasks_, cancels_, turns_, catalogue, background_, wiring_.peers),
      jobs_(operators, actions_, inbox_, background_, wiring_.peers),
      keys_(operators, inbox_, background_, clock, wiring_.peers) {
  live_.listen(wiring_.on_stored);
  if (wiring_.peers == nullptr) return;
  live_.share(
      {wiring_.peers->self(),
       [this](const LiveTasks::Looking& looking) { reader_.look_for_stop(looking.wait, looking.after); },
       [this](store::Grown task) { wiring_.peers->follow({task}); }});
  others_.emplace(*wiring_.peers, store, reader_, live_, inbox_, turns_, delegation_, background_,
                  OtherNodes::Hooks{[this](std::vector<task::TaskHead> adopted) -> base::Result<void> {
                                      const auto found = recovery_.take_up(std::move(adopted));
                                      if (!found) return base::fail(found.error());
                                      cancels_.cancel_orphans();
                                      return resume(*found);
                                    },
                                    [this] { look_at_others(); }, wiring_.on_asked_to_drain,
                                    [this] { keys_.look(true); }});
}

Engine::~Engine() {
  drain();
}

base::Result<int> Engine::start() {
  if (usage_) {
    if (auto counted = usage_->count(removing_->store, [] {}); !counted)
      return base::fail(std::move(counted.error()));
  }
  if (auto paused = actions_.start(); !paused) return base::fail(std::move(paused.error()));
  const bool is_shared = wiring_.peers != nullptr;
  if (options_.quarantine) write_now(store::ProgramBegins{is_shared});
  const auto found = recovery_.run();
  if (!found) return base::fail(found.error());
  // From here on, a program that ends without being asked to counts as crashed.
  notes_stop_ = options_.quarantine && !is_shared && write_now(store::ProgramStops{false});
  if (auto resumed = resume(*found); !resumed) return base::fail(std::move(resumed.error()));
  if (auto taken = load_schedules(); !taken) return base::fail(std::move(taken.error()));
  if (removing_) removing_->retention.start();
  if (auto resumed = jobs_.start(); !resumed) return base::fail(std::move(resumed.error()));
  if (auto read = keys_.start(); !read) return base::fail(std::move(read.error()));
  if (others_) others_->start();
  if (others_) keys_.look(true);  // they may have changed before this node listened
  // Orphans whose turns belong to other nodes are not recovered above.
  if (others_) cancels_.cancel_orphans();
  if (others_ && usage_) count_after(kCountEvery);
  return static_cast<int>(found->unfinished.size());
}

// Writes a small record and waits until it is durable. Returns false if it cannot be written: a disk that
// accepts no writes must not prevent the start.
bool Engine::write_now(store::OperatorWrite what) {
  base::Promise<base::Result<void>> written;
  inbox_.write([this, what = std::move(what)] { return operators_.write(what); },
               [&](base::Result<void> result) { written.set_value(std::move(result)); });
  const auto result = written.get_future().get();
  if (!result)
    spdlog::warn("cannot record which turns were running before the crash: {}", result.error().for_log);
  return result.has_value();
}

// Takes over changes of other nodes: paused and scaled agents, operators' jobs, API keys and quarantined
// turns.
void Engine::look_at_others() {
  actions_.look();
  jobs_.look();
  keys_.look(false);
  if (!options_.quarantine) return;
  const auto crashed = operators_.crashed_turns();
  if (!crashed) return;
  std::vector<task::TaskKey> quarantined;
  for (const store::CrashedTurn& turn : *crashed) {
    if (turn.quarantined) quarantined.push_back(turn.task);
  }
  turns_.quarantine().set_isolated(quarantined);
}

// Counts callers' tasks after `pause`, and then regularly, to include tasks that other nodes have created or
// removed.
void Engine::count_after(std::chrono::milliseconds pause) {
  background_.timers().after(pause, [this] {
    background_.run_low([this] {
      if (wiring_.peers->is_alone()) return count_after(kCountEvery);
      const auto since = base::SteadyTime::now();
      if (const auto counted = usage_->count(removing_->store, [this] { await_stored(); }); !counted)
        spdlog::warn("cannot count the callers' stored tasks: {}", counted.error().for_log);
      const auto took = std::chrono::ceil<std::chrono::milliseconds>(base::SteadyTime::now() - since);
      count_after(std::max(kCountEvery, kCountRest * took));
    });
  });
}

// Returns once every earlier decision is in the store or was refused.
void Engine::await_stored() {
  base::Promise<bool> told;
  Decision nothing(Nothing{});
  nothing.done = [&](const base::Result<Written>&) { told.set_value(true); };
  inbox_.post(std::move(nothing));
  told.get_future().get();
}

// Resumes tasks that an earlier run or a node that is gone has left.
base::Result<void> Engine::resume(const Recovery::Found& found) {
  for (const task::TaskHead& head : found.suspects) turns_.quarantine().suspect(head);
  for (const task::TaskKey task : found.quarantined) turns_.quarantine().isolate(task);
  // Resume delegations first: a turn that begins may delegate, and the children found here must be those of
  // earlier turns.
  for (const task::TaskHead& head : found.going_on) {
    if (head.awaited == 0) continue;
    if (auto resumed = delegation_.resume(head); !resumed) return resumed;
  }
  for (const task::TaskHead& head : found.going_on) turns_.schedule(head);
  // Clients that followed a run before the program stopped must connect again, as after any lost connection.
  for (const task::TaskHead& head : found.unfinished) {
    if (head.origin != task::ProtocolVersion::none || head.parent) continue;
    const auto before = reader_.stop_before(head.key, head.last_event);
    if (before) tasks_.client_left(head.key, head.agent, *before);
  }
  return {};
}

void Engine::set_retention(store::RetentionStore& store) {
  if (options_.caller_tasks_max > 0 || options_.caller_bytes_max > 0) {
    inbox_.set_usage(
        &usage_.emplace(options_.caller_tasks_max, options_.caller_bytes_max, wiring_.peers != nullptr));
  }
  removing_.emplace(store, inbox_, cancels_, catalogue_, background_, clock_, options_, wiring_.peers,
                    [this](const task::AuditEntry& entry) { return operators_.write(entry); });
  jobs_.set_erasure(removing_->erasure);
  removing_->erasure.set_keys(keys_);
}

base::Result<void> Engine::catalogue_changed() {
  turns_.apply_limits();
  return load_schedules();
}

base::Result<void> Engine::load_schedules() {
  return options_.schedules ? schedules_.load() : base::Result<void>();
}

void Engine::drain() {
  if (std::exchange(drained_, true)) return;
  // Recorded at once, because the program may be killed while it drains.
  if (notes_stop_) inbox_.write([this] { return operators_.write(store::ProgramStops()); }, [](auto&&) {});
  jobs_.stop();
  turns_.drain(options_.drain_grace);
  if (others_) others_->stop();
  live_.end_waits();
  background_.stop();
  inbox_.settle();
  if (removing_) removing_->erasure.stop();
  if (wiring_.peers != nullptr) wiring_.peers->leave();
}

Engine::Counts Engine::counts() const {
  using task::State;
  return {turns_.counts(),
          live_.counts(),
          turns_.waiting_for_time(),
          schedules_.counts(),
          removing_ ? removing_->retention.counts() : Retention::Counts(),
          stats_.statuses(State::submitted),
          stats_.statuses(State::completed),
          stats_.statuses(State::failed),
          stats_.statuses(State::canceled),
          stats_.statuses(State::rejected)};
}

std::vector<AgentTurns> Engine::agent_turns() const {
  std::map<std::string, AgentTurns> by_name;
  const auto loaded = [](const TurnStats::States& from, auto& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i].load(std::memory_order_relaxed);
  };
  for (const auto& [name, noted] : stats_.all()) {
    AgentTurns& turns = by_name[name];
    loaded(noted->statuses, turns.statuses);
    loaded(noted->turns, turns.turns);
    turns.turns_going_on = noted->turns_going_on.load(std::memory_order_relaxed);
    turns.tokens = noted->tokens.load(std::memory_order_relaxed);
    turns.turn_time = noted->turn_time.snapshot();
  }
  for (auto& [agent, counts] : turns_.agents()) {
    AgentTurns& turns = by_name[agent.value];
    turns.running = counts.running;
    turns.queued = counts.queued;
    turns.oldest_queued = counts.oldest;
    turns.queue_time = std::move(counts.waited);
  }
  std::vector<AgentTurns> all;
  for (auto& [name, turns] : by_name) {
    turns.agent = name;
    all.push_back(std::move(turns));
  }
  return all;
}

}  // namespace baton::engine
