#include "engine/turns.h"

#include <spdlog/spdlog.h>

#include <thread>

#include "base/loggable.h"
#include "engine/references.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

std::unordered_map<task::AgentName, int> limits_of(const agents::Catalogue& catalogue) {
  std::unordered_map<task::AgentName, int> limits;
  for (const agents::Agent* agent : catalogue.all()) limits[agent->name] = agent->settings.concurrency;
  return limits;
}

constexpr std::chrono::milliseconds kLettingGo{5};

constexpr int kReferencesMax = 10;
// Of the conversation and the referenced tasks together, as an agent gets them.
constexpr std::size_t kToldBytesMax = 8 << 20;

// What is left of kToldBytesMax for references.
std::size_t room_beside(const std::vector<task::Message>& conversation) {
  std::size_t told = 0;
  for (const task::Message& message : conversation) told += task::weight_of(message);
  return told < kToldBytesMax ? kToldBytesMax - told : 0;
}

base::Result<std::vector<task::Artifact>> artifacts_of(const store::TaskStore& store,
                                                       const task::TaskHead& head) {
  if (head.artifact_count == 0) return std::vector<task::Artifact>();
  task::Depth depth;
  depth.artifacts = true;
  auto task = store.read(head.key, depth);
  if (!task) return base::fail(std::move(task.error()));
  return std::move(task->artifacts);
}

// The key alone is not unique: an agent may have begun a task that a power failure lost, and its key is
// reused.
std::string id_of_turn(const task::TaskHead& head) {
  return "t" + std::to_string(head.key.value) + "-" + std::to_string(head.turn.value) + "-" +
         std::to_string(std::hash<std::string>()(head.id.value));
}

// The beginning of every log line about a task.
std::string facts_of(const task::TaskHead& head) {
  return "task=" + base::loggable_word(head.id.value) +
         " context=" + base::loggable_word(head.context.value) + " agent=" + head.agent.value +
         " attempt=" + std::to_string(head.attempt);
}

}  // namespace

Turns::Turns(store::TaskStore& store, Ledger& ledger, const agents::Catalogue& catalogue,
             Background& background, const base::Clock& clock, const EngineOptions& options)
    : store_(store),
      ledger_(ledger),
      catalogue_(catalogue),
      background_(background),
      clock_(clock),
      options_(options),
      services_{ledger,
                store,
                background,
                clock,
                options,
                [this](const std::shared_ptr<TurnRun>& run, bool slot_held) { over(run, slot_held); },
                [this](std::shared_ptr<TurnRun> run, agents::DelegateRequest request) {
                  hooks_.delegate(std::move(run), std::move(request));
                },
                [this](const task::AgentName& agent) { return pause(agent); },
                [this](const task::AgentName& agent) {
                  --paused_;
                  scheduler_.resumed(agent);
                }},
      scheduler_(options.slots, options.queue_max, limits_of(catalogue),
                 [this](task::TaskKey task, const task::AgentName& agent) { begin(task, agent); }) {}

void Turns::take_limits() {
  scheduler_.set_limits(limits_of(catalogue_));
}

void Turns::begin(task::TaskKey task, const task::AgentName& agent) {
  background_.run([this, task, agent] { begin_now(task, agent); });
}

void Turns::begin_now(task::TaskKey task, const task::AgentName& agent_name) {
  const auto head = store_.head(task);
  if (!head) return refused(task, agent_name, head.error());
  // Cancelled or ended while it was queued.
  if (head->turn_state != task::TurnState::queued) return scheduler_.finished(agent_name);
  const agents::Agent* agent = catalogue_.find(head->agent);
  if (!agent) return fail_unknown_agent(*head);

  // Enrolled before its beginning is stored: a cancel that finds the turn running must find it here.
  const auto run = enroll(*head, *agent);
  if (!run) {
    background_.timers().after(kLettingGo, [this, task, agent_name] { begin(task, agent_name); });
    return;
  }

  task::Change change;
  change.task = task;
  change.expected = head->version;
  change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, clock_.now()}, {}});
  change.turn.emplace();
  change.turn->state = task::TurnState::running;
  change.turn->attempt = head->attempt + 1;
  ledger_.commit(std::move(change), [this, run, agent](base::Result<Ledger::Written> result) {
    if (!result) {
      const task::TaskHead old = run->head();
      forget(run);
      return refused(old.key, old.agent, result.error());
    }
    background_.run([this, run, agent, now = std::move(result->head)]() mutable {
      run->started(std::move(now));
      execute(run, *agent);
    });
  });
}

// Null if the task's turn before it is still being released.
std::shared_ptr<TurnRun> Turns::enroll(const task::TaskHead& head, const agents::Agent& agent) {
  auto run = std::make_shared<TurnRun>(services_, head, agent.settings);
  const bool alone = running_.with([&](auto& running) { return running.try_emplace(head.key, run).second; });
  return alone ? run : nullptr;
}

void Turns::begun(const task::TaskHead& head, std::optional<store::TurnInput> first) {
  const agents::Agent* agent = catalogue_.find(head.agent);
  const auto run = agent ? enroll(head, *agent) : nullptr;
  if (!run) return begun_again(head.key, head.turn, head.agent);
  background_.run([this, run, agent, first = std::move(first)]() mutable {
    run->started();
    execute(run, *agent, std::move(first));
  });
}

// Enrolls the turn later: its place is still held by a turn that a cancel ended before it had begun. Until
// then, a cancel of the task ends it directly.
void Turns::begun_again(task::TaskKey task, task::TurnNumber turn, const task::AgentName& agent) {
  background_.timers().after(kLettingGo, [this, task, turn, agent] {
    background_.run([this, task, turn, agent] {
      const auto head = store_.head(task);
      if (!head && head.error().code == base::ErrorCode::unavailable) return begun_again(task, turn, agent);
      const bool goes_on = head && head->turn == turn && head->turn_state == task::TurnState::running;
      if (goes_on) return begun(*head);
      scheduler_.finished(agent);
    });
  });
}

// The turn's beginning could not be stored, or its task not read: tries again.
void Turns::refused(task::TaskKey task, const task::AgentName& agent, const base::Error& error) {
  if (error.code == base::ErrorCode::task_not_found) return scheduler_.finished(agent);
  if (error.code == base::ErrorCode::conflict) return begin(task, agent);
  spdlog::warn("agent={} a turn cannot begin, trying again: {}", agent.value, error.for_log);
  background_.timers().after(options_.disk_retry, [this, task, agent] { begin(task, agent); });
}

void Turns::fail_unknown_agent(const task::TaskHead& head) {
  spdlog::warn("{} the task failed: this agent is no longer served", facts_of(head));
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.events.push_back(
      status_with_text(task::State::failed, "this agent is no longer served", clock_.now()));
  change.turn.emplace();
  change.turn->state = task::TurnState::none;
  ledger_.commit(std::move(change), [this, head](base::Result<Ledger::Written> result) {
    if (!result) return refused(head.key, head.agent, result.error());
    scheduler_.finished(head.agent);
  });
}

void Turns::execute(const std::shared_ptr<TurnRun>& run, const agents::Agent& agent,
                    std::optional<store::TurnInput> first) {
  const task::TaskHead head = run->head();
  if (spdlog::should_log(spdlog::level::debug)) {
    spdlog::debug("{} turn {} begins", facts_of(head), head.turn.value);
  }
  try {
    auto turn = describe(head, std::move(first));
    if (!turn) {
      spdlog::error("{} its turn cannot be read: {}", facts_of(head), turn.error().for_log);
      return run->finish(agents::Failed{"the turn could not be read from the store"});
    }
    run->attach(agent.executor->start(std::move(*turn), run));
  } catch (const std::exception& error) {
    // Out of memory. Without an end the turn would hold its slot until its deadline.
    spdlog::error("{} its turn could not begin: {}", facts_of(head), error.what());
    run->finish(agents::Failed{"the turn could not begin"});
  }
}

// The history that the caller sent, or else the stored one.
base::Result<std::vector<task::Message>> Turns::conversation(const task::TaskHead& head,
                                                             task::TurnRequest& request) const {
  if (request.history) return std::move(*request.history);
  return store_.conversation(head.context_key, head.key, head.turn_message, options_.conversation_max);
}

base::Result<agents::Turn> Turns::describe(const task::TaskHead& head,
                                           std::optional<store::TurnInput> first) const {
  using Messages = std::vector<task::Message>;
  const bool is_first = first.has_value();
  auto input = is_first ? base::Result<store::TurnInput>(std::move(*first))
                        : store_.turn_input(head.key, head.turn_message);
  if (!input) return base::fail(std::move(input.error()));
  const bool nothing_said = is_first && !input->request.history;
  auto earlier = nothing_said ? base::Result<Messages>(Messages()) : conversation(head, input->request);
  if (!earlier) return base::fail(std::move(earlier.error()));
  auto artifacts = artifacts_of(store_, head);
  if (!artifacts) return base::fail(std::move(artifacts.error()));
  auto references = referenced_tasks(store_, head, input->message,
                                     {kReferencesMax, options_.conversation_max, room_beside(*earlier)});
  if (!references) return base::fail(std::move(references.error()));
  // Shared before the stored ids are read: an id that another turn takes meanwhile is in one of the two.
  auto taken = used_ids(head.context_key);
  if (!is_first) {
    const auto stored = store_.call_ids(head.context_key);
    if (!stored) return base::fail(stored.error());
    taken->add(*stored);
  }

  agents::Turn turn;
  turn.id = id_of_turn(head);
  turn.attempt = head.attempt;
  turn.agent = head.agent;
  turn.task = head.id;
  turn.context = head.context;
  turn.task_metadata = std::move(input->task_metadata);
  turn.message = std::move(input->message);
  turn.history = std::move(*earlier);
  turn.artifacts = std::move(*artifacts);
  turn.references = std::move(*references);
  turn.tools = std::move(input->request.tools);
  turn.client_state = std::move(input->request.client_state);
  turn.metadata = std::move(input->request.metadata);
  turn.extensions = std::move(input->request.extensions);
  turn.resume_ask = head.ask;
  turn.used_ids = std::move(taken);
  return turn;
}

// One set for all running turns of a context; deleted with the last of them.
std::shared_ptr<agents::UsedIds> Turns::used_ids(task::ContextKey context) const {
  return used_ids_->with([&](auto& all) {
    auto& shared = all[context];
    if (auto used = shared.lock()) return used;
    const auto let_go = [contexts = used_ids_, context](const agents::UsedIds* ids) {
      delete ids;
      contexts->with([&](auto& left) {
        const auto found = left.find(context);
        if (found != left.end() && found->second.expired()) left.erase(found);
      });
    };
    std::shared_ptr<agents::UsedIds> used(new agents::UsedIds, let_go);
    shared = used;
    return used;
  });
}

bool Turns::cancel(task::TaskKey task, const std::string& reason) {
  const auto run = running_.with([&](auto& running) {
    const auto found = running.find(task);
    return found == running.end() ? nullptr : found->second;
  });
  if (run) run->cancel(reason);
  return run != nullptr;
}

bool Turns::has(task::TaskKey task) const {
  return running_.with([&](const auto& running) { return running.contains(task); });
}

void Turns::forget(const std::shared_ptr<TurnRun>& run) {
  const task::TaskKey task = run->head().key;
  running_.with([&](auto& running) {
    const auto found = running.find(task);
    if (found != running.end() && found->second == run) running.erase(found);
  });
}

void Turns::over(const std::shared_ptr<TurnRun>& run, bool slot_held) {
  forget(run);
  const task::TaskHead head = run->head();
  // On a busy server, a line for each task that went well would be most of the log, and of the work.
  const bool went_well = head.state == task::State::completed || task::is_waiting(head.state);
  const bool failed = head.state == task::State::failed || head.state == task::State::rejected;
  const auto level = failed ? spdlog::level::warn : went_well ? spdlog::level::debug : spdlog::level::info;
  if (spdlog::should_log(level)) {
    const std::string reason = failed ? base::loggable(run->failure()) : std::string();
    spdlog::log(level, "{} turn {} is over, the task is {}{}{}", facts_of(head), head.turn.value,
                task::name_of(head.state), reason.empty() ? "" : ": ", reason);
  }
  if (run->may_have_children()) hooks_.ended(head);
  if (head.turn_state == task::TurnState::queued) {
    scheduler_.enqueue_again(head.key, head.agent, std::string(task::account_of(head.caller)));
  }
  if (slot_held) {
    scheduler_.finished(head.agent);
  } else {
    --paused_;
  }
}

// A turn that waits for children holds no slot, but it holds the agent's process: so there is a bound.
bool Turns::pause(const task::AgentName& agent) {
  if (++paused_ > options_.slots) {
    --paused_;
    return false;
  }
  scheduler_.finished(agent);
  return true;
}

std::size_t Turns::running() const {
  return running_.with([](const auto& running) { return running.size(); });
}

void Turns::drain(std::chrono::milliseconds grace) {
  scheduler_.close();
  const auto until = std::chrono::steady_clock::now() + grace;
  while (running() > 0 && !hurried_ && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<std::shared_ptr<TurnRun>> left;
  running_.with([&](auto& running) {
    for (const auto& [task, run] : running) left.push_back(run);
  });
  for (const auto& run : left) run->abandon();
}

}  // namespace baton::engine
