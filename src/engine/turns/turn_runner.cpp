#include "engine/turns/turn_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "agents/caller_ask.h"
#include "base/loggable.h"
#include "base/sha256.h"
#include "base/threads.h"
#include "base/trace_context.h"
#include "engine/decide/kinds/begin_turn.h"
#include "engine/decide/kinds/settle_child.h"
#include "engine/decide/kinds/show_question.h"
#include "engine/decide/kinds/wake.h"
#include "engine/decide/rules/turn_ending.h"
#include "engine/shared/message_checks.h"
#include "engine/turns/other_tasks.h"
#include "engine/turns/turn_span.h"

namespace baton::engine {
namespace {

std::unordered_map<task::AgentName, int> limits_of(const agents::Catalogue& catalogue) {
  std::unordered_map<task::AgentName, int> limits;
  for (const agents::Agent* agent : catalogue.all()) limits[agent->name] = agent->settings.concurrency;
  for (const agents::Agent* agent : catalogue.hidden()) limits[agent->name] = agent->settings.concurrency;
  return limits;
}

constexpr int kReferencesMax = 10;
constexpr int kLogPage = 500;
// Bounds the conversation and the referenced tasks together, and separately the results of the agent's
// children.
constexpr std::size_t kToldBytesMax = 8 << 20;

// Returns the bytes of kToldBytesMax that are left for references.
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

// The key alone is not unique: a power failure may lose a task that an agent has already begun, and the key
// is reused.
std::string id_of_turn(const task::TaskHead& head) {
  return "t" + std::to_string(head.key.value) + "-" + std::to_string(head.turn.value) + "-" +
         std::to_string(std::hash<std::string>()(head.id.value));
}

// Returns the conversation's name for agents on other servers. It cannot be another caller's, even if that
// caller chose the same context id. It has the form of a UUID, because some servers accept nothing else.
std::string name_of_conversation(const task::TaskHead& head) {
  return base::uuid_of(
      {head.caller.value, head.agent.value, head.context.value, std::to_string(head.context_key.value)});
}

// Returns true if the agent is a plan, which enforces its budget itself.
bool is_plan(const agents::Agent& agent) {
  return agent.settings.executor == agents::AgentSettings::Kind::workflow;
}

// Whether a model needs what is stored with the calls of a history that its caller has sent.
bool needs_stored_calls(const agents::Agent& agent, const std::vector<task::Message>& sent) {
  if (agent.settings.executor != agents::AgentSettings::Kind::openai) return false;
  return std::ranges::any_of(sent, [](const task::Message& message) {
    const bool has_data = std::ranges::count(message.parts, task::Part::Kind::data, &task::Part::kind) > 0;
    return message.role == task::Role::agent && has_data;
  });
}

// The turn as its task's head has it.
agents::Turn turn_of(const task::TaskHead& head) {
  agents::Turn turn;
  turn.id = id_of_turn(head);
  turn.attempt = head.attempt;
  turn.canceled = head.cancel_requested;
  turn.agent = head.agent;
  turn.task = head.id;
  turn.key = head.key;
  turn.said_ids = shown_reply_ids(head);
  turn.reply_ids = head.id.value + "-m" + std::to_string(head.turn.value) + ".";
  turn.context = head.context;
  turn.account = task::account_of(head.caller);
  return turn;
}

// Moves what the caller has sent to the turn, but for the history and the trace.
void take_input(agents::Turn& turn, store::TurnInput& input) {
  turn.task_metadata = std::move(input.task_metadata);
  turn.message = std::move(input.message);
  turn.tools = std::move(input.request.tools);
  turn.client_state = std::move(input.request.client_state);
  turn.metadata = std::move(input.request.metadata);
  turn.extensions = std::move(input.request.extensions);
  turn.hops = std::move(input.request.hops);
}

// Returns the task's first message for a turn about a later one; nothing for agents that do not use it.
base::Result<std::optional<task::Message>> request_of(const TaskReader& reader, const task::TaskHead& head,
                                                      const agents::Agent& agent) {
  if (is_plan(agent) || agent.settings.acts_outside() || head.turn_message <= task::kFirstMessage)
    return std::nullopt;
  auto first = reader.turn_input(head.key, task::kFirstMessage);
  if (!first) return base::fail(std::move(first.error()));
  return std::move(first->message);
}

}  // namespace

std::string TurnRunner::facts_of(const task::TaskHead& head) {
  return "task=" + base::loggable_word(head.id.value) +
         " context=" + base::loggable_word(head.context.value) + " agent=" + head.agent.value +
         " attempt=" + std::to_string(head.attempt);
}

TurnRunner::TurnRunner(const TaskReader& reader, Inbox& inbox, const agents::Catalogue& catalogue,
                       Background& background, const base::Clock& clock, const EngineOptions& options,
                       const EngineWiring& wiring, TurnStats& stats)
    : reader_(reader),
      inbox_(inbox),
      catalogue_(catalogue),
      background_(background),
      clock_(clock),
      options_(options),
      wiring_(wiring),
      stats_(stats),
      services_{inbox, background, clock, options, wiring.spans, questions_, *this},
      scheduler_(options.slots, options.queue_max, limits_of(catalogue),
                 [this](task::TaskKey task, const task::AgentName& agent) { begin_turn(task, agent); }),
      persistent_(inbox, background),
      scales_(catalogue, scheduler_),
      wakes_(background.timers(), clock, options.delayed_max,
             [this](task::TaskKey task, task::TurnNumber turn) { wake(task, turn); }) {}

task::AgentName TurnRunner::slots_of(const task::AgentName& agent) const {
  const agents::Agent* known = agents::is_agent_url(agent.value) ? catalogue_.find(agent) : nullptr;
  return known == nullptr ? agent : known->name;
}

void TurnRunner::apply_limits() {
  scheduler_.set_limits(limits_of(catalogue_));
  scales_.apply();
}

void TurnRunner::begin_turn(task::TaskKey task, const task::AgentName& agent) {
  if (!quarantine_.admits(task)) return scheduler_.finished(agent);
  const auto enrolled = std::make_shared<std::shared_ptr<RunningTurn>>();
  Decision decision(BeginTurn{task, self(), catalogue_, clock_});
  decision.is_awaited = false;
  decision.committed = [this, agent, enrolled](const store::Committed& committed) {
    if (committed.head.turn_state == task::TurnState::running)
      return run_if_early(*enrolled = enroll(committed.head));
    spdlog::warn("{} the task failed: its agent is no longer served", facts_of(committed.head));
    clear_suspicion(committed.head.key);
    scheduler_.finished(agent);
  };
  decision.done = [this, task, agent, enrolled](const base::Result<Written>& written) {
    if (written) return *enrolled ? run_if_late(*enrolled) : void();
    clear_suspicion(task);
    scheduler_.finished(agent);
  };
  persistent_.post(std::move(decision), "agent=" + agent.value + " cannot start a turn");
}

std::shared_ptr<RunningTurn> TurnRunner::enroll(const task::TaskHead& head) {
  static const agents::Agent kNoLongerServed{};
  const agents::Agent* agent = catalogue_.find(head.agent);
  auto run = std::make_shared<RunningTurn>(services_, head, agent ? *agent : kNoLongerServed);
  const auto before = running_.with([&](auto& running) { return std::exchange(running[head.key], run); });
  // Another node took over that turn, and this node has not heard of it yet.
  if (before && !before->is_ending()) before->abandon();
  return run;
}

bool TurnRunner::begins_early(const task::AgentName& agent) const {
  const agents::Agent* known = catalogue_.find(agent);
  return known == nullptr || (known->settings.recovery != agents::AgentSettings::Recovery::fail &&
                              !known->settings.acts_outside());
}

void TurnRunner::run_if_early(const std::shared_ptr<RunningTurn>& run,
                              std::optional<store::TurnInput> first) {
  if (begins_early(run->head().agent)) this->run(run, std::move(first));
}

void TurnRunner::run_if_late(const std::shared_ptr<RunningTurn>& run) {
  if (!begins_early(run->head().agent)) this->run(run, {});
}

void TurnRunner::run(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first) {
  // This is the engine's thread, so a turn that reads the store or computes while it starts, as a plan does,
  // runs in the background.
  const bool reads_nothing = first && first->message.reference_tasks.empty() && !run->is_plan();
  auto begin = [this, run, first = std::move(first)]() mutable {
    run->started();
    start(run, std::move(first));
  };
  if (reads_nothing) return begin();
  in_background(run, std::move(begin));
}

void TurnRunner::start(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first) {
  const task::TaskHead head = run->head();
  const agents::Agent* agent = catalogue_.find(head.agent);
  if (agent == nullptr) return run->finish(agents::Failed{no_longer_served(head.agent)});
  if (spdlog::should_log(spdlog::level::debug)) {
    spdlog::debug("{} turn {} starts", facts_of(head), head.turn.value);
  }
  try {
    auto turn = describe(*run, *agent, std::move(first));
    if (!turn) return not_read(run, turn.error());
    if (auto over = set_budget(head, *agent, *turn); !over.empty() && !is_plan(*agent))
      return run->finish(agents::Failed{std::move(over)});
    if (agent->settings.acts_outside()) {
      turn->conversation = name_of_conversation(head);
      turn->hops.push_back(hop_of(wiring_.node, head.agent));
    }
    if (wiring_.spans != nullptr) link_to_first(*run, head, reader_);
    run->attach(run->may_start() ? agent->executor->start(std::move(*turn), run) : nullptr);
  } catch (const std::exception& error) {
    // Out of memory. Without an end the turn would hold its slot until its deadline.
    spdlog::error("{} cannot start the turn: {}", facts_of(head), error.what());
    run->attach(nullptr);
    run->finish(agents::Failed{"the turn could not be started"});
  }
}

base::Result<agents::Turn> TurnRunner::describe(RunningTurn& run, const agents::Agent& agent,
                                                std::optional<store::TurnInput> first) const {
  const task::TaskHead head = run.head();
  const bool is_first = first.has_value();
  auto input = is_first ? base::Result<store::TurnInput>(std::move(*first))
                        : reader_.turn_input(head.key, head.turn_message);
  if (!input) return base::fail(std::move(input.error()));
  // Shared before the stored ids are read, so that an id that another turn takes meanwhile is in one of the
  // two.
  auto taken = used_ids(head.context_key);
  // The history that the caller sent, or else the stored one.
  std::optional<std::vector<task::Message>> sent = std::move(input->request.history);
  const bool needs_stored = sent && needs_stored_calls(agent, *sent);
  store::ContextRecord earlier;
  if (!is_first) {
    // A plan does not use the conversation.
    const bool is_used = !is_plan(agent) && (!sent || needs_stored);
    auto stored = reader_.context(head, is_used ? options_.conversation_max : 0);
    if (!stored) return base::fail(std::move(stored.error()));
    earlier = std::move(*stored);
    taken->add(earlier.call_ids);
  }
  agents::Turn turn = turn_of(head);
  if (needs_stored) turn.stored_history = std::move(earlier.said);
  if (sent) earlier.said = std::move(*sent);
  auto request = request_of(reader_, head, agent);
  if (!request) return base::fail(std::move(request.error()));
  auto artifacts = artifacts_of(reader_, head);
  if (!artifacts) return base::fail(std::move(artifacts.error()));
  auto references = referenced_tasks(reader_, head, input->message,
                                     {kReferencesMax, options_.conversation_max, room_beside(earlier.said)});
  if (!references) return base::fail(std::move(references.error()));

  // After its message and its beginning, the log of a turn that begins for the first time is empty.
  if (head.last_event.value > head.turn_message.value + 2) {
    if (auto read = take_log(run, agent, turn); !read) return base::fail(std::move(read.error()));
  } else {
    // The turn's children may end while it starts, so it must know now that its log is empty.
    run.set_log({});
  }
  turn.read_child = [this](task::TaskKey child) {
    return reader_.read_committed(child, task::Depth{0, true, kToldBytesMax});
  };
  if (turn.canceled) run.mark_undoing();
  take_input(turn, *input);
  turn.request = std::move(*request);
  turn.history = std::move(earlier.said);
  turn.artifacts = std::move(*artifacts);
  turn.references = std::move(*references);
  if (!is_first) {
    auto ask = answered_ask(head);
    if (!ask) return base::fail(std::move(ask.error()));
    turn.resume_ask = std::move(*ask);
  }
  turn.trace = base::traceparent_below(input->request.trace, {turn.id, std::to_string(turn.attempt)});
  const std::vector<task::TaskId>& named = turn.message.reference_tasks;
  if (!turn.hops.empty() || !turn.trace.empty() || !named.empty())
    run.inherit({turn.hops, turn.trace, input->request.trace, named});
  turn.used_ids = std::move(taken);
  if (agent.settings.acts_outside() || head.agent.value == agents::kToolAgent) {
    turn.subject = subjects_.find(head);
    agents::take_up(turn);
  }
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

// Reads the log of a turn that runs again or continues after waiting, for the turn and its executor.
base::Result<void> TurnRunner::take_log(RunningTurn& run, const agents::Agent& agent,
                                        agents::Turn& turn) const {
  const task::TaskHead head = run.head();
  auto log = read_turn_log(
      head, [&](task::EventNumber after) { return reader_.committed_events(head.key, after, kLogPage); });
  if (!log) return base::fail(std::move(log.error()));
  // A plan gets only its children's statuses here, and reads their contents with Turn::read_child when
  // needed.
  const task::Depth whole{std::nullopt, true, kToldBytesMax}, status{0, false};
  auto told = child_results(reader_, log->settled(), is_plan(agent) ? status : whole);
  if (!told) return base::fail(std::move(told.error()));
  turn.results = std::move(*told);
  turn.again = log->has_delegated;
  if (!log->states.empty()) turn.kept = log->states.back();
  turn.states = std::move(log->states);
  turn.children = std::move(log->children);
  if (is_plan(agent)) turn.said = log->said;
  run.set_log(std::move(*log));
  return {};
}

std::shared_ptr<RunningTurn> TurnRunner::running_turn(task::TaskKey task) const {
  return running_.with([&](const auto& running) {
    const auto found = running.find(task);
    return found == running.end() ? nullptr : found->second;
  });
}

bool TurnRunner::cancel(task::TaskKey task, const std::string& reason) {
  const auto run = running_turn(task);
  if (run) run->cancel(reason);
  return run != nullptr;
}

bool TurnRunner::break_off(task::TaskKey task) {
  const auto run = running_turn(task);
  if (run) run->break_off();
  return run != nullptr;
}

void TurnRunner::withdraw_question(const task::AgentName& agent, const std::string& ask) const {
  const agents::Agent* known = catalogue_.find(agent);
  if (known != nullptr) known->executor->withdraw_question(agent, ask);
}

bool TurnRunner::shows_replies_in_status(const task::AgentName& agent) const {
  const agents::Agent* known = catalogue_.find(agent);
  return known != nullptr && known->settings.reply_as == agents::AgentSettings::ReplyAs::status;
}

void TurnRunner::clear_suspicion(task::TaskKey task) {
  for (const task::TaskHead& held : quarantine_.clear(task))
    scheduler_.enqueue_again(held.key, room_request_of(held));
}

void TurnRunner::over(const std::shared_ptr<RunningTurn>& run, bool slot_held) {
  const task::TaskHead head = run->head();
  running_.with([&](auto& running) {
    const auto found = running.find(head.key);
    if (found != running.end() && found->second == run) running.erase(found);
  });
  stats_.note_turn(head, run->age());
  if (wiring_.spans != nullptr) add_turn_span(*wiring_.spans, *run, head);
  // On a busy server, a line for each task that went well would be most of the log, and of the work.
  const bool goes_on = head.turn_state != task::TurnState::none;
  const bool went_well = goes_on || head.state == task::State::completed || task::is_waiting(head.state);
  const bool failed = head.state == task::State::failed || head.state == task::State::rejected;
  // The listener of each stored change (EngineWiring::on_stored) has this already.
  const bool has_listener = static_cast<bool>(wiring_.on_stored);
  const auto level = failed && !has_listener     ? spdlog::level::warn
                     : went_well || has_listener ? spdlog::level::debug
                                                 : spdlog::level::info;
  if (spdlog::should_log(level)) {
    const std::string reason = failed ? base::loggable(run->failure()) : std::string();
    spdlog::log(level, "{} turn {} ended, task state {}{}{}", facts_of(head), head.turn.value,
                task::name_of(head.state), reason.empty() ? "" : ": ", reason);
  }
  if (task::is_terminal(head.state)) subjects_.erase(head);
  if (run->may_have_children()) report(TurnOver{head});
  if (questions_.turnover(head)) update_question(head.key);
  clear_suspicion(head.key);
  schedule(head);
  if (slot_held) {
    scheduler_.finished(slots_of(head.agent));
  } else {
    --paused_;
  }
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
  // Repeat until none is left: turns whose beginnings were being stored are enrolled late, and none may be
  // left that still produces output.
  do {
    std::vector<std::shared_ptr<RunningTurn>> left;
    running_.with([&](auto& running) {
      for (const auto& [task, run] : running) left.push_back(run);
    });
    for (const auto& run : left) run->abandon();
    inbox_.settle();
  } while (running() > 0);
}

// ---- Waiting turns

// Sets the turn's budget and usage. Returns why the task must not continue; empty if it may.
std::string TurnRunner::set_budget(const task::TaskHead& head, const agents::Agent& agent,
                                   agents::Turn& turn) const {
  if (head.budget) turn.budget = *head.budget;
  // Another server has its own default.
  if (!turn.budget.children && !agent.settings.acts_outside())
    turn.budget.children = options_.delegation_children_max;
  turn.taken = {head.tokens, head.children};
  const base::Timestamp now = clock_.now();
  if (turn.budget.until) turn.budget.wall = std::max(*turn.budget.until - now, base::Duration(0));
  return task::excess(turn.budget, turn.taken, now);
}

void TurnRunner::in_background(const std::shared_ptr<RunningTurn>& run, std::function<void()> work) {
  if (!run->is_plan()) return void(background_.run(std::move(work)));
  background_.run_plan(std::string(task::account_of(run->head().caller)), std::move(work));
}

// Retries while the store is unavailable, until the turn's deadline. Fails the turn after any other error.
void TurnRunner::not_read(const std::shared_ptr<RunningTurn>& run, const base::Error& error) {
  if (error.code != base::ErrorCode::unavailable) {
    spdlog::error("{} cannot read the turn: {}", facts_of(run->head()), error.for_log);
    run->attach(nullptr);
    return run->finish(agents::Failed{"the turn could not be read from the store"});
  }
  spdlog::warn("{} cannot read the turn; retrying: {}", facts_of(run->head()), error.for_log);
  background_.again([this, run] {
    if (run->is_over()) return;
    in_background(run, [this, run] { start(run, {}); });
  });
}

// Returns true if the task's running turn works on this message and has accepted the child's stop.
bool TurnRunner::settled_by_run(task::TaskKey task, task::EventNumber message, const task::Subagent& child) {
  const auto run = running_turn(task);
  return run && run->head().turn_message == message && run->log_stop(child);
}

void TurnRunner::log_stop(task::TaskKey task, task::EventNumber message, const task::Subagent& child) {
  Decision decision(SettleChild{task, message, child, self(), questions_, clock_});
  decision.committed = [this](const store::Committed& committed) { schedule(committed.head); };
  persistent_.post(std::move(decision), "cannot store the end of a child task",
                   [this, task, message, child] { return settled_by_run(task, message, child); });
}

Scheduler::RoomRequest TurnRunner::room_request_of(const task::TaskHead& head) const {
  return {slots_of(head.agent), std::string(task::account_of(head.caller)),
          head.parent ? Scheduler::Origin::child : Scheduler::Origin::earlier};
}

void TurnRunner::schedule(const task::TaskHead& head) {
  if (head.turn_state == task::TurnState::waiting && head.waits.until) {
    return wakes_.at(*head.waits.until, head.key, head.turn, std::string(task::account_of(head.caller)));
  }
  if (head.turn_state != task::TurnState::queued) return;
  wakes_.forget(head.key, head.turn);
  quarantine_.release(head.key);
  scheduler_.enqueue_again(head.key, room_request_of(head));
}

void TurnRunner::withdraw(const task::TaskHead& head) {
  wakes_.forget(head.key, head.turn);
  scheduler_.remove(head.key, room_request_of(head));
  clear_suspicion(head.key);
}

// Queues the turn because its time has come. No-op if it no longer waits.
void TurnRunner::wake(task::TaskKey task, task::TurnNumber turn) {
  Decision decision(Wake{task, turn, self()});
  decision.is_awaited = false;
  decision.committed = [this](const store::Committed& committed) { schedule(committed.head); };
  persistent_.post(std::move(decision), "cannot queue a turn that is due");
}

// A turn that waits for children holds no slot, but it still holds the agent's process, so their number is
// bounded. It is not stored as waiting: it may still produce output meanwhile, and the store takes output
// only from a running turn.
bool TurnRunner::pause(const task::AgentName& agent) {
  if (++paused_ > options_.slots) {
    --paused_;
    return false;
  }
  scheduler_.finished(slots_of(agent));
  return true;
}

void TurnRunner::resume(const task::AgentName& agent) {
  --paused_;
  scheduler_.resumed(slots_of(agent));
}

// ---- Children's questions

void TurnRunner::update_question(task::TaskKey task, const task::TaskHead* now) {
  if (const auto run = running_turn(task)) return run->questions_changed(now);
  persistent_.post(Decision(ShowQuestion{task, self(), questions_, clock_}),
                   "cannot show a child task's question", [this, task] {
                     const auto run = running_turn(task);
                     if (run) run->questions_changed();
                     return run != nullptr;
                   });
}

// Returns the id of the question that the turn's message answers, or empty. The question is the status before
// that of the message's submission.
base::Result<std::string> TurnRunner::answered_ask(const task::TaskHead& head) const {
  if (head.turn_message.value < 3) return std::string();
  auto events = reader_.committed_events(head.key, {head.turn_message.value - 3}, 2);
  if (!events) return base::fail(events.error());
  if (events->size() < 2) return std::string();
  task::Event before = std::move(events->front());
  // Skip operators' actions since the question was asked.
  while (std::holds_alternative<task::Intervention>(before.body) && before.number.value > 1) {
    auto earlier = reader_.committed_events(head.key, {before.number.value - 2}, 1);
    if (!earlier) return base::fail(earlier.error());
    if (earlier->empty()) return std::string();
    before = std::move(earlier->front());
  }
  const task::StatusChanged* asked = task::status_in(before);
  const task::StatusChanged* submitted = task::status_in(events->back());
  const bool answers = asked && submitted && task::is_waiting(asked->status.state) &&
                       submitted->status.state == task::State::submitted;
  return answers ? asked->ask : std::string();
}

// ---- Other nodes

store::NodeId TurnRunner::self() const {
  return wiring_.peers == nullptr ? store::NodeId() : wiring_.peers->self();
}

std::vector<task::TaskKey> TurnRunner::running_tasks() const {
  return running_.with([](const auto& running) {
    std::vector<task::TaskKey> tasks;
    tasks.reserve(running.size());
    for (const auto& [task, run] : running) tasks.push_back(task);
    return tasks;
  });
}

task::EventNumber TurnRunner::last_event(task::TaskKey task) const {
  const auto run = running_turn(task);
  return run ? run->head().last_event : task::EventNumber();
}

void TurnRunner::changed_elsewhere(const store::TaskEnd& now) {
  const auto run = running_turn(now.task);
  // This node has stored a newer version since.
  if (!run || now.version < run->head().version) return;
  if (now.owner != wiring_.peers->self()) {
    spdlog::info("task={} agent={} its turn continues on another node",
                 base::loggable_word(run->head().id.value), run->head().agent.value);
    return run->abandon();
  }
  if (!now.cancel_requested) return;
  for (const task::TaskKey child : questions_.asking(now.task)) report(ChildUnneeded{child});
  run->cancel({});
}

void TurnRunner::gone_elsewhere(task::TaskKey task) {
  if (const auto run = running_turn(task)) run->abandon();
}

void TurnRunner::take_over(const task::TaskHead& head) {
  if (head.awaited == 0) return schedule(head);
  report(TurnTakenOver{head});
}

}  // namespace baton::engine
