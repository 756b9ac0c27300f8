#include "engine/turn_runner.h"

#include <spdlog/spdlog.h>

#include "base/loggable.h"
#include "base/threads.h"
#include "engine/other_tasks.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

std::unordered_map<task::AgentName, int> limits_of(const agents::Catalogue& catalogue) {
  std::unordered_map<task::AgentName, int> limits;
  for (const agents::Agent* agent : catalogue.all()) limits[agent->name] = agent->settings.concurrency;
  return limits;
}

constexpr int kReferencesMax = 10;
constexpr int kLogPage = 500;
// Of the conversation and the referenced tasks together, as an agent gets them, and of its children's
// results.
constexpr std::size_t kToldBytesMax = 8 << 20;

// What is left of kToldBytesMax for references.
std::size_t room_beside(const std::vector<task::Message>& conversation) {
  std::size_t told = 0;
  for (const task::Message& message : conversation) told += task::weight_of(message);
  return told < kToldBytesMax ? kToldBytesMax - told : 0;
}

base::Result<std::vector<task::Artifact>> artifacts_of(const TaskReader& reader, const task::TaskHead& head) {
  if (head.artifact_count == 0) return std::vector<task::Artifact>();
  task::Depth depth;
  depth.artifacts = true;
  auto task = reader.read_committed(head.key, depth);
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

TurnRunner::TurnRunner(const TaskReader& reader, Inbox& inbox, const agents::Catalogue& catalogue,
                       Children& children, Background& background, const base::Clock& clock,
                       const EngineOptions& options)
    : reader_(reader),
      inbox_(inbox),
      catalogue_(catalogue),
      children_(children),
      background_(background),
      clock_(clock),
      options_(options),
      services_{inbox, background, clock, options, *this},
      scheduler_(options.slots, options.queue_max, limits_of(catalogue),
                 [this](task::TaskKey task, const task::AgentName& agent) { begin(task, agent); }) {}

void TurnRunner::take_limits() {
  scheduler_.set_limits(limits_of(catalogue_));
}

void TurnRunner::begin(task::TaskKey task, const task::AgentName& agent) {
  const auto enrolled = std::make_shared<std::shared_ptr<RunningTurn>>();
  Decision decision;
  decision.task = task;
  decision.answers = false;
  decision.decide = [this](const store::TaskRow& now) { return beginning(now); };
  decision.committed = [this, agent, enrolled](const store::Committed& committed) {
    if (committed.head.turn_state != task::TurnState::running) return scheduler_.finished(agent);
    run_if_early(*enrolled = enroll(committed.head));
  };
  decision.done = [this, task, agent, enrolled](const base::Result<Written>& written) {
    if (!written) return refused(task, agent, written.error());
    if (*enrolled) run_if_late(*enrolled);
  };
  inbox_.post(std::move(decision));
}

// The change that begins the task's queued turn, or ends its task if nobody can run it.
base::Result<task::Change> TurnRunner::beginning(const store::TaskRow& now) const {
  const task::TaskHead& head = now.head;
  // Cancelled or ended while it was queued.
  if (head.turn_state != task::TurnState::queued) {
    return base::fail(base::ErrorCode::not_found, "the task has no queued turn");
  }
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  if (catalogue_.find(head.agent) == nullptr) {
    spdlog::warn("{} the task failed: this agent is no longer served", facts_of(head));
    change.events.push_back(
        status_with_text(task::State::failed, "this agent is no longer served", clock_.now()));
    change.turn->state = task::TurnState::none;
    return change;
  }
  change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, clock_.now()}, {}});
  change.turn->state = task::TurnState::running;
  change.turn->attempt = head.attempt + 1;
  return change;
}

// The turn's beginning could not be stored: tries again, unless it has no beginning any more.
void TurnRunner::refused(task::TaskKey task, const task::AgentName& agent, const base::Error& error) {
  using base::ErrorCode;
  if (error.code == ErrorCode::task_not_found || error.code == ErrorCode::not_found) {
    return scheduler_.finished(agent);
  }
  spdlog::warn("agent={} a turn cannot begin, trying again: {}", agent.value, error.for_log);
  background_.timers().after(options_.disk_retry, [this, task, agent] { begin(task, agent); });
}

std::shared_ptr<RunningTurn> TurnRunner::enroll(const task::TaskHead& head) {
  const agents::Agent* agent = catalogue_.find(head.agent);
  auto run =
      std::make_shared<RunningTurn>(services_, head, agent ? agent->settings : agents::AgentSettings());
  running_.with([&](auto& running) { running.insert_or_assign(head.key, run); });
  return run;
}

bool TurnRunner::begins_early(const task::AgentName& agent) const {
  const agents::Agent* known = catalogue_.find(agent);
  return known == nullptr || known->settings.recovery != agents::AgentSettings::Recovery::fail;
}

void TurnRunner::run_if_early(const std::shared_ptr<RunningTurn>& run,
                              std::optional<store::TurnInput> first) {
  if (begins_early(run->head().agent)) this->run(run, std::move(first));
}

void TurnRunner::run_if_late(const std::shared_ptr<RunningTurn>& run) {
  if (!begins_early(run->head().agent)) this->run(run, {});
}

void TurnRunner::run(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first) {
  const bool reads_nothing = first && first->message.reference_tasks.empty();
  if (reads_nothing) return execute(run, std::move(first));
  background_.run([this, run, first = std::move(first)]() mutable { execute(run, std::move(first)); });
}

void TurnRunner::execute(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first) {
  run->started();
  const task::TaskHead head = run->head();
  const agents::Agent* agent = catalogue_.find(head.agent);
  if (agent == nullptr) return run->finish(agents::Failed{"this agent is no longer served"});
  if (spdlog::should_log(spdlog::level::debug)) {
    spdlog::debug("{} turn {} begins", facts_of(head), head.turn.value);
  }
  try {
    auto turn = describe(*run, std::move(first));
    if (!turn) {
      spdlog::error("{} its turn cannot be read: {}", facts_of(head), turn.error().for_log);
      return run->finish(agents::Failed{"the turn could not be read from the store"});
    }
    run->attach(agent->executor->start(std::move(*turn), run));
  } catch (const std::exception& error) {
    // Out of memory. Without an end the turn would hold its slot until its deadline.
    spdlog::error("{} its turn could not begin: {}", facts_of(head), error.what());
    run->finish(agents::Failed{"the turn could not begin"});
  }
}

base::Result<agents::Turn> TurnRunner::describe(RunningTurn& run,
                                                std::optional<store::TurnInput> first) const {
  const task::TaskHead head = run.head();
  const bool is_first = first.has_value();
  auto input = is_first ? base::Result<store::TurnInput>(std::move(*first))
                        : reader_.turn_input(head.key, head.turn_message);
  if (!input) return base::fail(std::move(input.error()));
  // Shared before the stored ids are read: an id that another turn takes meanwhile is in one of the two.
  auto taken = used_ids(head.context_key);
  // The history that the caller sent, or else the stored one.
  std::optional<std::vector<task::Message>> sent = std::move(input->request.history);
  store::ContextRecord earlier;
  if (!is_first) {
    auto stored = reader_.context(head, sent ? 0 : options_.conversation_max);
    if (!stored) return base::fail(std::move(stored.error()));
    earlier = std::move(*stored);
    taken->add(earlier.call_ids);
  }
  if (sent) earlier.said = std::move(*sent);
  auto artifacts = artifacts_of(reader_, head);
  if (!artifacts) return base::fail(std::move(artifacts.error()));
  auto references = referenced_tasks(reader_, head, input->message,
                                     {kReferencesMax, options_.conversation_max, room_beside(earlier.said)});
  if (!references) return base::fail(std::move(references.error()));

  agents::Turn turn;
  // After its message and its beginning, the log of a turn that begins for the first time is empty.
  if (head.last_event.value > head.turn_message.value + 2) {
    auto log = read_turn_log(
        head, [&](task::EventNumber after) { return reader_.committed_events(head.key, after, kLogPage); });
    if (!log) return base::fail(std::move(log.error()));
    auto told = child_results(reader_, log->delegated, kToldBytesMax);
    if (!told) return base::fail(std::move(told.error()));
    turn.results = std::move(*told);
    turn.again = log->has_delegated;
    run.go_on(std::move(*log));
  }
  turn.id = id_of_turn(head);
  turn.attempt = head.attempt;
  turn.agent = head.agent;
  turn.task = head.id;
  turn.context = head.context;
  turn.task_metadata = std::move(input->task_metadata);
  turn.message = std::move(input->message);
  turn.history = std::move(earlier.said);
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
std::shared_ptr<agents::UsedIds> TurnRunner::used_ids(task::ContextKey context) const {
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

bool TurnRunner::cancel(task::TaskKey task, const std::string& reason) {
  const auto run = running_.with([&](auto& running) {
    const auto found = running.find(task);
    return found == running.end() ? nullptr : found->second;
  });
  if (run) run->cancel(reason);
  return run != nullptr;
}

void TurnRunner::settle(task::TaskKey task, task::EventNumber message, const task::Subagent& child) {
  Decision decision;
  decision.task = task;
  decision.decide = [message, child](const store::TaskRow& now) -> base::Result<task::Change> {
    const task::TaskHead& head = now.head;
    // The turn takes no more, but its end is not stored: it may have been refused.
    if (head.turn_state == task::TurnState::running && head.turn_message == message) {
      return base::fail(base::ErrorCode::conflict, "the task does not wait yet");
    }
    if (head.turn_state != task::TurnState::waiting || head.turn_message != message) {
      return base::fail(base::ErrorCode::not_found, "the task does not wait for this");
    }
    task::Change change;
    change.task = head.key;
    change.expected = head.version;
    change.events.push_back(child);
    change.turn.emplace();
    return change;
  };
  decision.committed = [this](const store::Committed& committed) { queue_again(committed.head); };
  decision.done = [this, task, message, child](const base::Result<Written>& written) {
    if (written || written.error().code == base::ErrorCode::not_found ||
        written.error().code == base::ErrorCode::task_not_found) {
      return;
    }
    if (written.error().code != base::ErrorCode::conflict) {
      spdlog::warn("a child's end cannot be stored, trying again: {}", written.error().for_log);
    }
    background_.timers().after(options_.disk_retry,
                               [this, task, message, child] { settle(task, message, child); });
  };
  inbox_.post(std::move(decision));
}

// If the task has a turn that waits for a slot.
void TurnRunner::queue_again(const task::TaskHead& head) {
  if (head.turn_state != task::TurnState::queued) return;
  scheduler_.enqueue_again(head.key, head.agent, std::string(task::account_of(head.caller)));
}

void TurnRunner::delegate(const std::shared_ptr<RunningTurn>& run, agents::DelegateRequest request, int nth) {
  children_.start(run, std::move(request), nth);
}

void TurnRunner::over(const std::shared_ptr<RunningTurn>& run, bool slot_held) {
  const task::TaskHead head = run->head();
  running_.with([&](auto& running) {
    const auto found = running.find(head.key);
    if (found != running.end() && found->second == run) running.erase(found);
  });
  // On a busy server, a line for each task that went well would be most of the log, and of the work.
  const bool went_well = head.state == task::State::completed || task::is_waiting(head.state);
  const bool failed = head.state == task::State::failed || head.state == task::State::rejected;
  const auto level = failed ? spdlog::level::warn : went_well ? spdlog::level::debug : spdlog::level::info;
  if (spdlog::should_log(level)) {
    const std::string reason = failed ? base::loggable(run->failure()) : std::string();
    spdlog::log(level, "{} turn {} is over, the task is {}{}{}", facts_of(head), head.turn.value,
                task::name_of(head.state), reason.empty() ? "" : ": ", reason);
  }
  if (run->may_have_children()) children_.turn_over(head);
  queue_again(head);
  if (slot_held) {
    scheduler_.finished(head.agent);
  } else {
    --paused_;
  }
}

// A turn that waits for children holds no slot, but it holds the agent's process: so there is a bound. It is
// not stored as waiting, since it may go on talking meanwhile, and the store takes only a running turn's
// output.
bool TurnRunner::pause(const task::AgentName& agent) {
  if (++paused_ > options_.slots) {
    --paused_;
    return false;
  }
  scheduler_.finished(agent);
  return true;
}

void TurnRunner::resume(const task::AgentName& agent) {
  --paused_;
  scheduler_.resumed(agent);
}

std::size_t TurnRunner::running() const {
  return running_.with([](const auto& running) { return running.size(); });
}

void TurnRunner::drain(std::chrono::milliseconds grace) {
  scheduler_.close();
  const auto until = base::SteadyTime::now() + grace;
  while (running() > 0 && !hurried_ && base::SteadyTime::now() < until) {
    base::sleep_for(std::chrono::milliseconds(10));
  }
  // Again, as long as turns come to light whose beginnings were on their way: none may be left that still
  // talks.
  do {
    std::vector<std::shared_ptr<RunningTurn>> left;
    running_.with([&](auto& running) {
      for (const auto& [task, run] : running) left.push_back(run);
    });
    for (const auto& run : left) run->abandon();
    inbox_.settle();
  } while (running() > 0);
}

}  // namespace baton::engine
