#include "engine/turns/running_turn.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/loggable.h"
#include "base/text.h"
#include "engine/decide/kinds/turn_output.h"
#include "engine/decide/rules/turn_ending.h"
#include "engine/turns/turn_runner.h"

namespace baton::engine {
namespace {

constexpr std::chrono::milliseconds kAtOnce{0};
// Requests of one turn that got no child. If the turn waits, its last decision logs all of them.
constexpr std::size_t kChildlessMax = 10'000;

const task::Message* message_of(const agents::Outcome& outcome) {
  if (const auto* asked = std::get_if<agents::Asked>(&outcome)) return &asked->message;
  const auto* done = std::get_if<agents::Done>(&outcome);
  return done && done->message ? &*done->message : nullptr;
}

}  // namespace

RunningTurn::RunningTurn(const Services& services, task::TaskHead head, const agents::Agent& agent)
    : services_(services),
      reply_as_(agent.settings.reply_as),
      children_max_(agent.settings.children_max),
      time_max_(agent.settings.turn_timeout),
      budget_(head.budget),
      tokens_before_(head.tokens),
      answers_whole_(agent.settings.acts_outside()),
      cancel_grace_(agent.settings.cancel_grace),
      is_elsewhere_(agent.settings.executor == agents::AgentSettings::Kind::a2a ||
                    agent.settings.executor == agents::AgentSettings::Kind::ag_ui ||
                    agent.settings.ends_work_elsewhere),
      is_model_(agent.settings.executor == agents::AgentSettings::Kind::openai),
      is_plan_(agent.settings.executor == agents::AgentSettings::Kind::workflow),
      undoes_(may_undo_steps(agent, head)),
      tells_next_(has_turn_on_cancel(agent, head)),
      state_(std::in_place, std::move(head), services.options, agent.settings.reply_as) {}

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
    state.knows_log = true;  // without a call of `set_log` there is no log
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

void RunningTurn::mark_undoing() {
  state_.with([](State& state) { state.is_undoing = true; });
}

void RunningTurn::cancel(std::string reason) {
  if (state_.with([](const State& state) { return state.cancel_requested; })) return;
  // A plan's turn ends soon by itself, and the next turn undoes. Forcing the end would skip the undoing.
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

// Returns true if the task has room for `bytes` more; else makes the turn fail.
bool RunningTurn::fits(State& state, std::size_t bytes) {
  const std::size_t most = services_.options.task_bytes_max;
  if (state.head.bytes + state.output.unstored_bytes() + state.childless_bytes + bytes <= most) return true;
  state.outcome = failure_of_engine("the task holds more than " + std::to_string(most) + " bytes");
  return false;
}

void RunningTurn::emit(task::EventBody body) {
  const bool taken = state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return false;
    if (!fits(state, task::weight_of(body))) return true;
    if (budget_) count(state, body);
    if (services_.spans != nullptr) {
      state.tools.record(*services_.spans, state.lineage.trace, body);
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

void RunningTurn::reply(agents::ReplyPiece piece) {
  const bool taken = state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return false;
    const std::size_t times = reply_as_ == agents::AgentSettings::ReplyAs::artifact ? 1 : 2;
    if (fits(state, times * piece.text.size())) state.output.add_reply(std::move(piece));
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

// Checks the schema of a question before it is asked. A faulty schema is removed if the agent runs on another
// server; otherwise the turn must fail, and the reason is returned.
std::string RunningTurn::vet_schema(task::Message& question) const {
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
    return "the schema of the agent's question is invalid: " + (pointer.empty() ? "it" : pointer) + " " +
           report.fault->reason;
  }
  warn(*report.fault, " is invalid, so the question is shown without it");
  agents::remove_schema(question, limits);
  return {};
}

void RunningTurn::finish(agents::Outcome outcome) {
  if (auto* asked = std::get_if<agents::Asked>(&outcome)) {
    if (std::string fault = vet_schema(asked->message); !fault.empty())
      outcome = agents::Failed{std::move(fault)};
  }
  state_.with([&](State& state) {
    if (state.phase == Phase::over || state.outcome) return;
    auto* waits = std::get_if<agents::Waits>(&outcome);
    if (waits != nullptr && !may_wait(state, *waits)) {
      outcome = agents::Failed{"the agent is waiting, but has not delegated anything"};
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

// A turn that ends by waiting ends only when it is known which children it waits for.
bool RunningTurn::may_end(const State& state) {
  if (!state.outcome || state.is_stopping) return false;
  // Stops of children that came early are added only after the log is known.
  if (!state.knows_log && !state.early.empty() && runs_on(*state.outcome)) return false;
  return !std::holds_alternative<agents::Waits>(*state.outcome) || state.asked_for == 0;
}

// Returns true if the waiting output may not be delayed. Only streamed output of a turn that continues may.
bool RunningTurn::is_urgent(const State& state) const {
  return state.outcome || state.cancel_requested || !state.output.is_streamed() || !state.childless.empty() ||
         !state.unneeded.empty() || state.output.bytes() >= services_.options.turn_bytes_max / 2;
}

// Posts a decision that stores the output or the turn's end, unless one is pending or nothing may be stored
// now.
void RunningTurn::flush() {
  struct Next {
    bool posts = false, may_wait = false, hastens = false;
    task::TaskKey task = {};
    std::size_t bytes = 0;
  };
  const bool turns_over = question_turns_over();
  const Next next = state_.with([&](State& state) {
    const bool has_output = (!state.output.empty() && !state.held) || turns_over;
    const bool may_wait = !turns_over && !is_urgent(state);
    if (state.posted && !may_wait && std::exchange(state.may_wait, false)) return Next{.hastens = true};
    if (state.phase != Phase::running || state.posted || (!has_output && !may_end(state))) return Next{};
    state.posted = true;
    state.may_wait = may_wait;
    return Next{true, may_wait, false, state.head.key, state.output.bytes()};
  });
  if (next.hastens) services_.inbox.hasten();
  if (!next.posts) return;
  Decision decision;
  decision.task = next.task;
  decision.bytes = next.bytes;
  decision.may_wait = next.may_wait;
  decision.decide = [self = shared_from_this()](const store::TaskRow& now) { return self->decide(now); };
  decision.committed = [self = shared_from_this()](const store::Committed& change) {
    self->committed(change);
  };
  decision.done = [self = shared_from_this()](const base::Result<Written>& result) {
    if (!result) self->refused(result.error());
  };
  services_.inbox.post(std::move(decision));
  // Another thread may have found the decision urgent before it was in the queue.
  if (next.may_wait && !state_.with([](const State& state) { return state.may_wait; }))
    services_.inbox.hasten();
}

base::Result<task::Change> RunningTurn::decide(const store::TaskRow& now) {
  ChildQuestions::Turnover turnover = services_.questions.turnover(now.head);
  return state_.with([&](State& state) {
    state.output.put_back();  // of a decision that could not be written
    state.ending = false;
    TurnOutput output{now.head.key, state.head.turn, state.head.attempt, state.output, state.childless};
    output.is_over = state.phase != Phase::running;
    if (may_end(state)) output.outcome = &*state.outcome;
    output.cancel_requested = state.cancel_requested;
    output.cancel_reason = state.cancel_reason;
    output.undoes = tells_next_;
    output.is_undoing = state.is_undoing;
    output.is_used_up = is_used_up(state);
    output.reply_as = reply_as_;
    output.turnover = std::move(turnover);
    output.at = services_.clock.now();
    auto change = output.decide(now);
    if (state.childless.empty()) state.childless_bytes = 0;  // the output has them now
    state.lost = output.is_lost;
    if (state.lost) return change;
    state.head = now.head;
    state.ending = output.outcome != nullptr;
    return change;
  });
}

void RunningTurn::committed(const store::Committed& committed) {
  std::function<void()> when_ready;
  const bool over = state_.with([&](State& state) {
    state.posted = state.may_wait = false;
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
  update_deadline();
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
  // The turn was ended by someone else.
  if (lost.lost) return lost.was_over ? void() : end();
  if (base::may_pass(error)) {
    spdlog::warn("task={} agent={} the store refused a turn's output; retrying: {}",
                 base::loggable_word(head().id.value), head().agent.value, error.for_log);
    return store_again(services_.options.disk_retry);
  }
  // The output can never be stored: the turn fails without it.
  spdlog::error("task={} agent={} cannot store a turn's output, so the turn fails: {} {}",
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
      state.posted = state.may_wait = false;
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
  if (services_.spans != nullptr) last.tools.end_all();
  services_.background.timers().cancel(last.deadline);
  if (last.grace != 0) services_.background.timers().cancel(last.grace);
  if (last.budget_end != 0) services_.background.timers().cancel(last.budget_end);
  last.running.reset();
  services_.runner.over(shared_from_this(), last.slot_held);
}

// ---- Children

namespace {

// Returns the event that ends a detached child's subagent: once stored, the child is no longer its parent's
// work.
task::Subagent handed_over(const task::Subagent& child) {
  task::Subagent end{child.id, child.name, task::Subagent::Phase::finished, {}};
  end.is_detached = true;
  return end;
}

}  // namespace

bool RunningTurn::may_have_children() const {
  return state_.with([](const State& state) {
    return state.delegated || state.head.turn.value > 1 || state.head.attempt > 1;
  });
}

std::string RunningTurn::open_subagent(task::TaskKey child) const {
  return state_.with([&](const State& state) { return state.output.open_subagent(child); });
}

void RunningTurn::set_log(TurnLog log) {
  state_.with([&](State& state) {
    state.knows_log = true;
    state.awaited_at_begin = static_cast<int>(log.subagents.awaited().size());
    state.earlier = std::move(log.delegated);
    state.known_calls = std::move(log.own_calls);
    state.output.set_earlier(std::move(log.subagents), std::move(log.said));
    for (task::Subagent& child : std::exchange(state.early, {})) {
      state.output.add(std::move(child), services_.clock.now());
    }
  });
}

// Returns true if something can end the wait. Without children only the time counts, so `open_max` is
// disabled: a child whose stop was reported a moment ago must not end the wait.
bool RunningTurn::may_wait(const State& state, agents::Waits& waits) {
  if (state.delegated || state.awaited_at_begin > 0) return true;
  waits.open_max = -1;
  return waits.until.has_value();
}

// A turn with a final outcome takes no more of its children's events. A turn after which the task runs on
// takes them until its end is decided; after that, the waiting task takes them.
bool RunningTurn::may_log_children(const State& state) {
  if (state.phase == Phase::over) return false;
  return !state.outcome || (runs_on(*state.outcome) && !state.ending);
}

RunningTurn::Begun RunningTurn::begun(const task::Subagent& child) {
  const Begun begun = state_.with([&](State& state) {
    --state.asked_for;
    const bool known = std::any_of(
        state.earlier.begin(), state.earlier.end(),
        [&](const task::Subagent& one) { return one.task == child.task && one.after == child.after; });
    if (known) return Begun::known;
    if (!may_log_children(state)) return Begun::too_late;
    state.output.add(child, services_.clock.now());
    if (child.is_detached) state.output.add(handed_over(child), services_.clock.now());
    return Begun::logged;
  });
  flush();
  return begun;
}

void RunningTurn::no_child(const std::string& agent, const std::string& id, const std::string& error,
                           bool is_counted) {
  state_.with([&](State& state) {
    --state.asked_for;
    if (is_counted) --state.taken.children;
    task::Subagent none;
    none.id = state.head.id.value + "-d" + std::to_string(state.head.turn.value) + "." +
              std::to_string(state.childless.size() + 1);
    none.name = agent;
    none.error = error;
    none.call = id;
    add_childless(state, std::move(none));
  });
  deliver({id, std::nullopt, error});
  flush();
}

// Keeps a request without a child for the log, if the turn may still wait. Too many of them fail the turn: an
// agent could ask without end, since nothing else counts such requests.
void RunningTurn::add_childless(State& state, task::Subagent none) {
  if (!may_log_children(state)) return;
  const std::size_t bytes = 2 * task::weight_of(task::EventBody(none));  // its beginning and its end
  if (!fits(state, bytes)) return;
  if (state.childless.size() >= kChildlessMax) {
    state.outcome = failure_of_engine("the agent made more than " + std::to_string(kChildlessMax) +
                                      " requests that got no child task in a turn");
    return;
  }
  state.childless_bytes += bytes;
  state.childless.push_back(std::move(none));
}

bool RunningTurn::log_stop(const task::Subagent& child) {
  const bool taken = state_.with([&](State& state) {
    if (!may_log_children(state)) return false;
    if (!state.knows_log) {
      state.early.push_back(child);
      if (budget_) count_end(state, child);
      return true;
    }
    state.output.add(child, services_.clock.now());
    if (budget_) count_end(state, child);
    return true;
  });
  if (taken) flush();
  return taken;
}

void RunningTurn::questions_changed(const task::TaskHead* now) {
  if (now != nullptr) {
    state_.with([&](State& state) {
      if (state.phase != Phase::over && now->version > state.head.version) state.head = *now;
    });
    update_deadline();
  }
  flush();
}

void RunningTurn::deliver(agents::DelegateResult result) {
  struct Next {
    bool resumes = false;
    task::AgentName agent;
  };
  const Next next = state_.with([](State& state) {
    if (state.phase == Phase::over) return Next{};
    const bool last = --state.children == 0;
    return Next{last && std::exchange(state.slot_released, false), state.head.agent};
  });
  if (next.resumes) services_.runner.resume(next.agent);
  pass_on(std::move(result));
}

// Passes a result to the executor, or keeps it until one is attached.
void RunningTurn::pass_on(agents::DelegateResult result) {
  const auto running = state_.with([&](State& state) {
    const bool starts = state.phase != Phase::over && !state.outcome && !state.running;
    if (starts) state.undelivered.push_back(std::move(result));
    return state.running;
  });
  if (running) running->deliver(std::move(result));
}

void RunningTurn::delegate(agents::DelegateRequest request) {
  struct Next {
    bool goes = false, pauses = false;
    std::string refusal;
    task::AgentName agent;
    int nth = 0;
  };
  const Next next = state_.with([&](State& state) {
    // A plan that does not know of the cancel yet must learn that its step has not begun, to undo the others.
    const bool is_unaware = state.cancel_requested && !(undoes_ && (state.is_undoing || request.undoes));
    if (state.phase != Phase::running || state.outcome || (is_unaware && !undoes_)) return Next{};
    const int nth = ++state.calls[request.id];
    const bool too_many = state.children + state.awaited_at_begin >= children_max_;
    // Hidden agents ask the questions of plans and call the tools of models; only these may delegate to them.
    const bool is_tool = request.agent == agents::kToolAgent;
    const bool is_hidden = is_tool ? !is_model_ : request.agent.starts_with('~') && !is_plan_;
    std::string refusal = is_hidden    ? "agent not found: \"" + request.agent + "\""
                          : is_unaware ? "the task is being canceled"
                          : too_many   ? "this turn has too many open child tasks"
                                       : admit(state, request, nth);
    state.delegated = true;
    ++state.asked_for;
    const bool pauses = ++state.children == 1 && !is_plan_;
    return Next{true, pauses, std::move(refusal), state.head.agent, nth};
  });
  if (!next.refusal.empty()) return no_child(request.agent, request.id, next.refusal, false);
  if (!next.goes) return;
  if (next.pauses && !services_.runner.pause(next.agent)) {
    return no_child(request.agent, request.id, "too many tasks are waiting for other tasks; try again later",
                    asks_anew(request, next.nth));
  }
  if (next.pauses) {
    const bool late = state_.with([](State& state) {
      state.slot_released = state.phase != Phase::over;
      return !state.slot_released;
    });
    if (late)
      return services_.runner.resume(next.agent);  // the turn ended meanwhile; its end returns the slot
  }
  services_.runner.report(ChildWanted{shared_from_this(), std::move(request), next.nth});
}

// The child is canceled only after the log has the reason. Otherwise a turn that runs again after a crash
// would find the child canceled without a reason.
void RunningTurn::cancel_child(const std::string& call) {
  state_.with([&](State& state) {
    const auto named = std::ranges::find(state.earlier, call, &task::Subagent::call);
    if (named != state.earlier.end() && named->task) state.unneeded.push_back(named->task);
  });
  cancel_unneeded();
}

void RunningTurn::cancel_unneeded() {
  const auto unneeded = state_.with([](State& state) {
    const bool is_stored = !state.posted && state.output.empty();
    return is_stored ? std::exchange(state.unneeded, {}) : std::vector<task::TaskKey>();
  });
  for (const task::TaskKey child : unneeded) services_.runner.report(ChildUnneeded{child});
}

void RunningTurn::inherit(Lineage lineage) {
  state_.with([&](State& state) { state.lineage = std::move(lineage); });
}

RunningTurn::Lineage RunningTurn::lineage() const {
  return state_.with([](const State& state) { return state.lineage; });
}

// Returns true if the task must show another question, or none any more.
bool RunningTurn::question_turns_over() const {
  const bool asks = state_.with([](const State& state) { return task::is_waiting(state.head.state); });
  if (!asks && services_.questions.empty()) return false;
  return static_cast<bool>(services_.questions.turnover(head()));
}

// ---- Deadline and budget

void RunningTurn::arm_deadline(std::chrono::milliseconds time) {
  const auto deadline = services_.background.timers().after(time, [self = shared_from_this()] {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(self->time_max_).count();
    self->force(
        self->failure_of_engine("the agent did not finish within " + base::counted(seconds, "second")));
  });
  const bool is_over = state_.with([&](State& state) {
    state.deadline = deadline;
    state.ends_at = base::SteadyTime::now() + time;
    return state.phase == Phase::over;
  });
  if (is_over) services_.background.timers().cancel(deadline);
}

// Pauses the deadline while the task waits for its caller, because that time is not the agent's.
void RunningTurn::update_deadline() {
  struct Next {
    base::EventLoop::TimerId stops = 0;
    std::optional<std::chrono::milliseconds> goes_on;
  };
  const Next next = state_.with([](State& state) {
    if (state.phase != Phase::running) return Next{};
    const bool asks = task::is_waiting(state.head.state);
    if (asks && !state.left) {
      const auto left = state.ends_at - base::SteadyTime::now();
      state.left = std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
      return Next{std::exchange(state.deadline, 0), {}};
    }
    return asks ? Next{} : Next{0, std::exchange(state.left, std::nullopt)};
  });
  if (next.stops != 0) services_.background.timers().cancel(next.stops);
  if (next.goes_on) arm_deadline(*next.goes_on);
}

// The budget's time also runs while the task waits for its caller. A plan's turn is too short to need a
// timer.
void RunningTurn::arm_budget_end() {
  if (!budget_->until || is_plan_) return;
  const auto left = std::max(*budget_->until - services_.clock.now(), base::Duration(0));
  const auto timer = services_.background.timers().after(left, [self = shared_from_this()] {
    self->force(agents::Failed{task::excess(*self->budget_, {}, *self->budget_->until)});
  });
  const bool is_over = state_.with([&](State& state) {
    state.budget_end = timer;
    return state.phase == Phase::over;
  });
  if (is_over) services_.background.timers().cancel(timer);
}

bool RunningTurn::asks_anew(const State& state, const agents::DelegateRequest& request, int nth) {
  if (!request.task.empty()) return false;
  const auto known = state.known_calls.find(request.id);
  return known == state.known_calls.end() || nth > known->second;
}

bool RunningTurn::asks_anew(const agents::DelegateRequest& request, int nth) const {
  return state_.with([&](const State& state) { return asks_anew(state, request, nth); });
}

// Returns why the turn may not have this child. If it may, returns an empty string and counts the child,
// unless it exists already.
std::string RunningTurn::admit(State& state, const agents::DelegateRequest& request, int nth) const {
  if (!asks_anew(state, request, nth)) return {};
  if (request.budget) {
    ++state.taken.children;
    return {};
  }
  task::Budget budget = budget_ ? *budget_ : task::Budget();
  if (!budget.children) budget.children = services_.options.delegation_children_max;
  std::string refusal = task::refusal_of_child(budget, state.taken);
  if (!refusal.empty()) return refusal;
  ++state.taken.children;
  return {};
}

std::shared_ptr<const task::Budget> RunningTurn::budget_of(const agents::DelegateRequest& request) const {
  if (request.budget) return std::make_shared<const task::Budget>(*request.budget);
  if (!budget_) return nullptr;
  const task::Taken taken = state_.with([](const State& state) { return state.taken; });
  return std::make_shared<const task::Budget>(task::left_for_child(*budget_, taken));
}

// Usage of an agent that acts outside is known only with its answer, so the agent may still complete with
// that answer.
void RunningTurn::count(State& state, const task::EventBody& body) const {
  if (const auto* usage = std::get_if<task::Usage>(&body)) state.taken.tokens += usage->tokens;
  if (const auto* kept = std::get_if<task::ExecutorState>(&body)) {
    state.taken.tokens += kept->used.tokens;
    state.taken.children += kept->used.children;
  }
  const bool is_over = budget_->tokens && state.taken.tokens > *budget_->tokens;
  if (!is_over || answers_whole_ || is_plan_ || state.outcome) return;
  if (std::holds_alternative<task::Usage>(body)) state.outcome = agents::Failed{excess_of(state)};
}

// A child that exceeds the token budget fails the turn. A plan's turn is exempt: the next one handles it.
void RunningTurn::count_end(State& state, const task::Subagent& child) const {
  state.taken.tokens += child.tokens;
  state.taken.children += child.children;
  const bool is_over = budget_->tokens && child.tokens > 0 && state.taken.tokens > *budget_->tokens;
  if (is_over && !is_plan_ && !state.outcome) state.outcome = agents::Failed{excess_of(state)};
}

std::string RunningTurn::excess_of(const State& state) const {
  return task::excess(*budget_, state.taken, services_.clock.now());
}

// Returns true if the task's tokens were used up in this turn.
bool RunningTurn::is_used_up(const State& state) const {
  if (!budget_ || !budget_->tokens || tokens_before_ > *budget_->tokens) return false;
  return state.taken.tokens > *budget_->tokens;
}

// The executor takes no part in such a failure, so a plan undoes nothing.
agents::Outcome RunningTurn::failure_of_engine(std::string error) const {
  if (undoes_) error += "; the plan's completed steps were not undone";
  return agents::Failed{std::move(error)};
}

// The executor is stopped first, because the next attempt may begin once this end is stored.
void RunningTurn::force(agents::Outcome outcome) {
  auto running = state_.with([&](State& state) {
    if (state.phase == Phase::over) return std::shared_ptr<agents::Execution>();
    if (!state.outcome) {
      state.is_stopping = state.running != nullptr || state.is_starting;
      state.outcome = std::move(outcome);
    }
    return std::exchange(state.running, nullptr);
  });
  if (running) {
    running.reset();
    state_.with([](State& state) { state.is_stopping = false; });
  }
  flush();
}

}  // namespace baton::engine
