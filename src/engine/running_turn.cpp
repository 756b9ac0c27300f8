#include "engine/running_turn.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>

#include "agents/plan.h"
#include "base/loggable.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

constexpr std::chrono::milliseconds kAtOnce{0};

bool is_status(const task::EventBody& body) {
  return std::holds_alternative<task::StatusChanged>(body);
}

const task::Message* message_of(const agents::Outcome& outcome) {
  if (const auto* asked = std::get_if<agents::Asked>(&outcome)) return &asked->message;
  const auto* done = std::get_if<agents::Done>(&outcome);
  return done && done->message ? &*done->message : nullptr;
}

}  // namespace

RunningTurn::RunningTurn(const Services& services, task::TaskHead head, const agents::AgentSettings& settings)
    : services_(services),
      reply_as_(settings.reply_as),
      children_max_(settings.children_max),
      time_max_(settings.turn_timeout),
      budget_(head.budget),
      tokens_before_(head.tokens),
      answers_whole_(settings.acts_outside()),
      cancel_grace_(settings.cancel_grace),
      is_elsewhere_(settings.executor == agents::AgentSettings::Kind::a2a ||
                    settings.executor == agents::AgentSettings::Kind::ag_ui),
      is_short_(settings.executor == agents::AgentSettings::Kind::workflow),
      undoes_(settings.plan && settings.plan->undoes),
      state_(std::in_place, std::move(head), services.options, settings.reply_as) {}

task::TaskHead RunningTurn::head() const {
  return state_.with([](const State& state) { return state.head; });
}

std::string RunningTurn::failure() const {
  return state_.with([](const State& state) -> std::string {
    if (!state.outcome) return {};
    if (const auto* failed = std::get_if<agents::Failed>(&*state.outcome)) return failed->error;
    if (const auto* rejected = std::get_if<agents::Rejected>(&*state.outcome)) return rejected->reason;
    return {};
  });
}

bool RunningTurn::is_wanted() const {
  return state_.with([](const State& state) {
    return state.phase != Phase::over && !state.outcome && (!state.cancel_requested || state.is_undoing);
  });
}

bool RunningTurn::is_over() const {
  return state_.with([](const State& state) { return state.phase == Phase::over; });
}

void RunningTurn::started() {
  arm_deadline(time_max_);
  if (budget_) arm_budget_end();
  state_.with([](State& state) {
    if (state.phase == Phase::starting) state.phase = Phase::running;
    state.held = true;
  });
}

bool RunningTurn::may_start() {
  return state_.with([](State& state) {
    state.is_starting = state.phase == Phase::running && !state.outcome;
    return state.is_starting;
  });
}

void RunningTurn::attach(std::unique_ptr<agents::Execution> running) {
  std::shared_ptr<agents::Execution> shared = std::move(running);
  std::vector<agents::DelegateResult> undelivered;
  bool cancel = false;
  const bool goes_on = state_.with([&](State& state) {
    state.knows_log = true;  // if nobody told it, there is nothing
    if (state.phase == Phase::over || state.outcome || !shared) return false;
    state.is_starting = false;
    state.running = shared;
    undelivered.swap(state.undelivered);
    cancel = state.cancel_requested;
    return true;
  });
  if (!goes_on) {
    shared.reset();
    state_.with([](State& state) { state.is_starting = state.is_stopping = false; });
  }
  release();
  for (agents::DelegateResult& result : undelivered) shared->deliver(std::move(result));
  if (cancel) shared->cancel();
}

void RunningTurn::tell_of_cancel() {
  state_.with([](State& state) { state.is_undoing = true; });
}

void RunningTurn::cancel(std::string reason) {
  if (state_.with([](const State& state) { return state.cancel_requested; })) return;
  // A plan's turn ends by itself in a moment, and the next one undoes: forced, it would leave that out.
  const auto grace =
      undoes_ ? 0 : services_.background.timers().after(cancel_grace_, [self = shared_from_this()] {
        self->force(agents::Canceled{});
      });
  const auto running = state_.with([&](State& state) {
    state.cancel_requested = true;
    state.cancel_reason = std::move(reason);
    state.grace = grace;
    return state.running;
  });
  if (running) running->cancel();
}

// Whether the task has room for `bytes` more; if not, the turn fails.
bool RunningTurn::fits(State& state, std::size_t bytes) {
  const std::size_t most = services_.options.task_bytes_max;
  if (state.head.bytes + state.output.unstored_bytes() + bytes <= most) return true;
  state.outcome = failure_of_engine("the task holds more than " + std::to_string(most) + " bytes");
  return false;
}

void RunningTurn::emit(task::EventBody body) {
  const bool taken = state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return false;
    if (!fits(state, task::weight_of(body))) return true;
    if (budget_) count(state, body);
    if (services_.options.spans != nullptr) {
      state.tools.take(*services_.options.spans, state.lineage.trace, body);
    }
    auto wrong = state.output.add(std::move(body), services_.clock.now());
    if (wrong) state.outcome = agents::Failed{std::move(*wrong)};
    return true;
  });
  if (taken) flush();
}

void RunningTurn::text(std::string delta) {
  if (delta.empty()) return;
  const bool taken = state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return false;
    const std::size_t times = reply_as_ == agents::AgentSettings::ReplyAs::artifact ? 1 : 2;
    if (fits(state, times * delta.size())) state.output.add_text(std::move(delta));
    return true;
  });
  if (taken) flush();
}

void RunningTurn::reasoning(std::string delta) {
  if (delta.empty()) return;
  const bool taken = state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return false;
    if (fits(state, delta.size())) state.output.add_reasoning(std::move(delta));
    return true;
  });
  if (taken) flush();
}

void RunningTurn::hold() {
  state_.with([](State& state) { state.held = true; });
}

void RunningTurn::release() {
  state_.with([](State& state) { state.held = false; });
  flush();
}

bool RunningTurn::ready(std::function<void()> when_ready) {
  return state_.with([&](State& state) {
    if (state.phase == Phase::over || state.output.bytes() < services_.options.turn_bytes_max) return true;
    state.when_ready = std::move(when_ready);
    return false;
  });
}

// Checks the schema of a question before it is asked. One of an agent elsewhere is taken out if it has a
// fault; one of our own agent's is the reason for which its turn fails, which is returned.
std::string RunningTurn::heed_schema(task::Message& question) const {
  const agents::QuestionLimits& limits = services_.options.questions;
  const agents::SchemaReport report = agents::check_schema(question, limits);
  const auto warn = [this](const json::SchemaProblem& problem, const char* consequence) {
    const task::TaskHead head = this->head();
    spdlog::warn("task={} agent={} the question's schema{}: {} {}", base::loggable_word(head.id.value),
                 head.agent.value, consequence, base::loggable(problem.pointer),
                 base::loggable(problem.reason));
  };
  for (const json::SchemaProblem& pattern : report.unenforced) warn(pattern, "");
  if (!report.fault) return {};
  if (!is_elsewhere_) {
    const std::string& pointer = report.fault->pointer;
    return "the schema of the agent's question cannot be used: " + (pointer.empty() ? "it" : pointer) + " " +
           report.fault->reason;
  }
  warn(*report.fault, " cannot be used, so it is shown without");
  agents::remove_schema(question, limits);
  return {};
}

void RunningTurn::finish(agents::Outcome outcome) {
  if (auto* asked = std::get_if<agents::Asked>(&outcome)) {
    if (std::string fault = heed_schema(asked->message); !fault.empty())
      outcome = agents::Failed{std::move(fault)};
  }
  state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return;
    auto* waits = std::get_if<agents::Waits>(&outcome);
    if (waits != nullptr && !may_wait(state, *waits)) {
      outcome = agents::Failed{"the agent waits, but has not delegated anything"};
    }
    const auto* said = message_of(outcome);
    if (said == nullptr || fits(state, task::weight_of(*said))) state.outcome = std::move(outcome);
  });
  flush();
}

void RunningTurn::abandon() {
  const bool was_over = state_.with([](State& state) {
    if (state.phase != Phase::over) state.abandoned = true;
    return std::exchange(state.phase, Phase::over) == Phase::over;
  });
  if (!was_over) end();
}

bool RunningTurn::is_ending() const {
  return state_.with([](const State& state) { return state.ending; });
}

// Output of a turn that goes on.
task::Change RunningTurn::going_change(State& state, const task::TaskHead& head,
                                       const ChildQuestions::Turnover& turnover) const {
  const base::Timestamp now = services_.clock.now();
  task::Change change;
  if (turnover.withdraws) withdraw_question(change, now);
  // What the agent says next is another reply: the question ends what the caller is shown.
  if (turnover.next) state.output.close_stream();
  for (task::EventBody& body : state.output.take()) change.events.push_back(std::move(body));
  change.shows = !state.output.is_reply_alone();
  const bool goes_on_asking = task::is_waiting(head.state) && !turnover.withdraws;
  if (goes_on_asking) std::erase_if(change.events, is_status);
  if (turnover.next) show_question(change, *turnover.next, now);
  return change;
}

task::Change RunningTurn::ending_change(State& state, const store::TaskRow& now) {
  const bool waits = std::holds_alternative<agents::Waits>(*state.outcome);
  const bool canceled = state.cancel_requested || now.head.cancel_requested;
  const bool ends = (canceled && !(undoes_ && waits)) || !runs_on(*state.outcome);
  ends ? state.output.close_all() : state.output.close_stream();
  if (waits) {
    log_childless(state);
    auto& until = std::get<agents::Waits>(*state.outcome);
    if (budget_) heed_excess(state, until);
    // The next turn learns of the cancel, and undoes: it does not wait for any child.
    if (canceled && !ends && !state.is_undoing) until.open_max = std::numeric_limits<int>::max();
  }
  task::Change change;
  const bool asks = task::is_waiting(now.head.state);
  // The agent's own question takes the place of a child's.
  if (asks && std::holds_alternative<agents::Asked>(*state.outcome)) {
    withdraw_question(change, services_.clock.now());
  }
  for (task::EventBody& body : state.output.take()) change.events.push_back(std::move(body));
  if (asks && !ends) std::erase_if(change.events, is_status);
  change.expected = now.head.version;
  TurnEnding ending;
  ending.cancel_requested = canceled && ends;
  ending.cancel_reason = state.cancel_reason;
  if (!now.waiting.empty()) ending.next_message = now.waiting.front();
  ending.waiting_messages = now.head.waiting_messages;
  if (std::holds_alternative<agents::BrokenOff>(*state.outcome)) ending.shown = state.output.begun();
  ending.now = services_.clock.now();
  const auto* done = std::get_if<agents::Done>(&*state.outcome);
  const bool has_said = !state.output.reply().empty() || (done && done->message);
  change.shows = ends && !(done && has_said && state.output.is_reply_alone());
  // In a task that callers see, the reply of a message agent is an artifact, and is not repeated.
  const bool is_repeated =
      reply_as_ != agents::AgentSettings::ReplyAs::message || (now.head.hidden && !change.shows);
  if (is_repeated) ending.reply = state.output.reply();
  add_ending(change, now.head, *state.outcome, ending);
  return change;
}

// A turn that waits ends when it is known which children it waits for.
bool RunningTurn::may_end(const State& state) {
  if (!state.outcome || state.is_stopping) return false;
  // What its children have told follows what the log has of them.
  if (!state.knows_log && !state.early.empty() && runs_on(*state.outcome)) return false;
  return !std::holds_alternative<agents::Waits>(*state.outcome) || state.asked_for == 0;
}

// Has the engine's thread store what there is, if it may be stored now.
void RunningTurn::flush() {
  struct Next {
    bool posts = false;
    task::TaskKey task;
    std::size_t bytes = 0;
  };
  const bool turns_over = question_turns_over();
  const Next next = state_.with([&](State& state) {
    const bool has_output = (!state.output.empty() && !state.held) || turns_over;
    if (state.phase != Phase::running || state.posted || (!has_output && !may_end(state))) return Next{};
    state.posted = true;
    return Next{true, state.head.key, state.output.bytes()};
  });
  if (!next.posts) return;
  Decision decision;
  decision.task = next.task;
  decision.bytes = next.bytes;
  decision.decide = [self = shared_from_this()](const store::TaskRow& now) { return self->decide(now); };
  decision.committed = [self = shared_from_this()](const store::Committed& change) {
    self->committed(change);
  };
  decision.done = [self = shared_from_this()](const base::Result<Written>& result) {
    if (!result) self->refused(result.error());
  };
  services_.inbox.post(std::move(decision));
}

base::Result<task::Change> RunningTurn::decide(const store::TaskRow& now) {
  const ChildQuestions::Turnover turnover = services_.questions.turnover(now.head);
  return state_.with([&](State& state) -> base::Result<task::Change> {
    state.output.put_back();  // of a decision that could not be written
    state.ending = false;
    const task::TaskHead& head = now.head;
    state.lost = head.turn_state != task::TurnState::running || head.turn != state.head.turn ||
                 head.attempt != state.head.attempt || state.phase != Phase::running;
    if (state.lost) return base::fail(base::ErrorCode::conflict, "this turn is no longer running");
    state.head = head;
    task::Change change;
    if (!may_end(state)) {
      change = going_change(state, head, turnover);
    } else {
      state.ending = true;
      change = ending_change(state, now);
    }
    change.task = head.key;
    change.fence = {head.turn, head.attempt};
    return change;
  });
}

void RunningTurn::committed(const store::Committed& committed) {
  std::function<void()> when_ready;
  const bool over = state_.with([&](State& state) {
    state.posted = false;
    state.output.stored();
    state.head = committed.head;
    if (state.output.bytes() < services_.options.turn_bytes_max) {
      when_ready = std::exchange(state.when_ready, nullptr);
    }
    // An abandoned turn is over already.
    return state.ending && std::exchange(state.phase, Phase::over) != Phase::over;
  });
  if (when_ready) when_ready();
  cancel_unneeded();
  if (over) return end();
  heed_deadline();
  flush();
}

void RunningTurn::refused(const base::Error& error) {
  struct Lost {
    bool lost = false, was_over = false;
  };
  const auto lost = state_.with([](State& state) {
    state.abandoned |= state.lost && state.phase != Phase::over;
    return state.lost ? Lost{true, std::exchange(state.phase, Phase::over) == Phase::over} : Lost{};
  });
  // The turn was ended elsewhere.
  if (lost.lost) return lost.was_over ? void() : end();
  if (base::may_pass(error)) {
    spdlog::warn("task={} agent={} the store refused a turn's output, trying again: {}",
                 base::loggable_word(head().id.value), head().agent.value, error.for_log);
    return store_again(services_.options.disk_retry);
  }
  // The output can never be stored: the turn fails without it.
  spdlog::error("task={} agent={} a turn's output cannot be stored: {} {}",
                base::loggable_word(head().id.value), head().agent.value, error.for_caller, error.for_log);
  const bool again = state_.with([](State& state) {
    state.output.drop_all();
    state.outcome = agents::Failed{"the agent's output could not be stored"};
    return std::exchange(state.dropped, true);
  });
  store_again(again ? services_.options.disk_retry : kAtOnce);
}

// Puts back what was not stored, and tries again after `delay`.
void RunningTurn::store_again(std::chrono::milliseconds delay) {
  auto again = [self = shared_from_this()] {
    self->state_.with([](State& state) {
      state.posted = false;
      state.output.put_back();
    });
    self->flush();
  };
  if (delay > kAtOnce) {
    services_.background.timers().after(delay, std::move(again));
  } else {
    again();
  }
}

void RunningTurn::end() {
  struct Last {
    std::shared_ptr<agents::Execution> running;
    base::EventLoop::TimerId deadline = 0, grace = 0, budget_end = 0;
    bool slot_held = true;
    std::function<void()> when_ready;
    agents::ToolSpans tools;
  };
  Last last = state_.with([](State& state) {
    return Last{std::exchange(state.running, nullptr),
                state.deadline,
                state.grace,
                state.budget_end,
                !state.slot_released,
                std::exchange(state.when_ready, nullptr),
                std::exchange(state.tools, {})};
  });
  if (services_.options.spans != nullptr) last.tools.end_all();
  services_.background.timers().cancel(last.deadline);
  if (last.grace != 0) services_.background.timers().cancel(last.grace);
  if (last.budget_end != 0) services_.background.timers().cancel(last.budget_end);
  last.running.reset();
  services_.owner.over(shared_from_this(), last.slot_held);
}

}  // namespace baton::engine
