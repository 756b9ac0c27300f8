#include "plan_checks.h"

#include <algorithm>
#include <set>

#include "agents/plan/child_results.h"
#include "agents/plan/plan_facts.h"
#include "plan_agents.h"
#include "plan_cases.h"
#include "plan_log.h"
#include "world.h"

namespace baton::simulation {
namespace {

using Phase = task::Subagent::Phase;

// How long a child may still work after its plan's end.
constexpr auto kAfterwards = std::chrono::seconds(60);

std::string outcome_of(const task::Task& task) {
  std::string text = std::string(task::name_of(task.status.state)) + "\n" + agents::text_of_result(task);
  for (const task::Artifact& artifact : task.artifacts) {
    for (const task::Part& part : artifact.parts) {
      if (part.kind != task::Part::Kind::text) text += "\n" + artifact.name + "=" + part.content;
    }
  }
  return text;
}

// Checks a plan that has ended.
class PlanCheck {
 public:
  PlanCheck(World& world, const Model::Task& task)
      : world_(world), task_(task), head_(task.head()), log_(task, *plan_of(task.head().agent.value)) {}

  void run() {
    const task::State state = head_.state;
    if (state == task::State::canceled) SOMETIMES(plan_canceled);
    if (state == task::State::canceled && is_in_map()) SOMETIMES(plan_canceled_in_a_map);
    log_.check_undone(state == task::State::failed && !log_.is_unstored());
    if (state == task::State::completed) log_.check_losers_undone();
    if (!log_.wrong().empty()) fail(log_.wrong());
    check_children();
    check_totals();
    check_outcome();
  }

 private:
  void fail(const std::string& what) const {
    world_.fibers.fail(head_.agent.value + ", task " + std::to_string(head_.key.value) + ": " + what +
                       records() + told(task_));
  }

  std::string records() const {
    std::string text;
    for (const Model::Event& event : task_.log) {
      if (const auto* state = std::get_if<task::ExecutorState>(&event.body)) {
        text += "\n  turn " + std::to_string(event.head.turn.value) + " " + state->state.text + " took";
        for (const std::string& call : state->taken) text += " " + call;
      }
    }
    return text;
  }

  bool is_in_map() const {
    return std::ranges::any_of(log_.facts().open(),
                               [](const auto& path) { return path.find('[') != std::string::npos; });
  }

  base::Timestamp end() const { return task_.head().status_at; }

  void check_children() const {
    std::set<std::int64_t> known;
    for (const auto& [id, child] : log_.children()) {
      if (child.task) known.insert(child.task.value);
    }
    for (const auto& [key, child] : world_.model.tasks()) {
      if (child.head().parent != head_.key) continue;
      const std::string name = "child " + std::to_string(key) + " ";
      const task::State state = child.head().state;
      if (!known.contains(key) && state != task::State::canceled && head_.state == task::State::completed)
        fail(name + "is not in the plan's log");
      const bool went_on = state != task::State::canceled && child.head().status_at > end() + kAfterwards;
      if (went_on) fail(name + "went on after the plan's end" + told(child));
    }
  }

  // Each child counts once, with its tokens and children.
  void check_totals() const {
    std::int64_t tokens = 0, children = 0;
    for (const auto& [id, child] : log_.children()) {
      if (!child.task) continue;
      ++children;
      const task::TaskHead& head = world_.model.task(child.task).head();
      tokens += child.end.tokens;
      children += child.end.children;
      const bool is_whole = child.end.tokens == head.tokens && child.end.children == head.children;
      const bool was_left = head.state == task::State::canceled || log_.has_canceled(child.call) ||
                            head_.state != task::State::completed;
      if (!is_whole && !was_left) fail(child.call + " does not count as what it took");
    }
    if (tokens != head_.tokens || children != head_.children) {
      fail("it has " + std::to_string(head_.tokens) + " tokens and " + std::to_string(head_.children) +
           " children and not " + std::to_string(tokens) + " and " + std::to_string(children));
    }
  }

  Answers answers() const {
    Answers answers = log_.answers();
    for (const auto& [id, child] : log_.children()) {
      if (!child.task) continue;
      const Model::Task& below = world_.model.task(child.task);
      const auto* plan = plan_of(below.head().agent.value);
      if (plan == nullptr) continue;
      const PlanLog log(below, *plan);
      for (const auto& [path, text] : log.answers())
        answers[agents::parse_call(child.call).path + ">" + path] = text;
    }
    return answers;
  }

  bool was_refused() const {
    return log_.was_refused() || std::ranges::any_of(log_.children(), [&](const auto& one) {
             if (!one.second.task) return true;
             const Model::Task& below = world_.model.task(one.second.task);
             const auto* plan = plan_of(below.head().agent.value);
             return plan != nullptr && PlanLog(below, *plan).was_refused();
           });
  }

  void check_outcome() const {
    if (head_.state == task::State::canceled) {
      const bool may_be = head_.parent || world_.model.was_canceled(head_.key);
      return may_be ? void() : fail("it was canceled by nobody");
    }
    if (was_refused()) {
      SOMETIMES(plan_child_refused);
      return;
    }
    if (world_.model.is_gone(head_.key)) return;  // and so is its outcome
    // A clock that jumps may use up the plan's time.
    if (world_.features.jumps && head_.state == task::State::failed) return;
    const auto read = world_.store.read(head_.key, task::Depth{std::nullopt, true});
    if (!read) return fail("it cannot be read");
    const auto& sent = std::get<task::MessageAdded>(first_message().body).message;
    const std::string outcome = outcome_of(*read);
    const auto allowed = plan_outcomes(head_.agent.value, sent.parts, answers());
    if (std::ranges::count(allowed, outcome) == 0)
      fail("it came to \"" + outcome + "\" and not to \"" + allowed[0] + "\"");
    head_.state == task::State::completed ? SOMETIMES(plan_completed) : SOMETIMES(plan_failed);
  }

  const Model::Event& first_message() const {
    return *std::ranges::find_if(task_.log, [](const Model::Event& event) {
      return std::holds_alternative<task::MessageAdded>(event.body);
    });
  }

  World& world_;
  const Model::Task& task_;
  const task::TaskHead head_;
  PlanLog log_;
};

}  // namespace

void check_plan_turn(World& world, const agents::Turn& turn) {
  const task::TaskKey key = world.model.key_of(turn.task.value);
  const Model::Task& task = world.model.task(key);
  const task::TaskHead& head = task.head();
  const std::string id = "t" + std::to_string(key.value) + "-" + std::to_string(head.turn.value) + "-";
  if (head.turn_state != task::TurnState::running || head.attempt != turn.attempt || !turn.id.starts_with(id))
    return;
  if (task::is_terminal(head.state)) world.fibers.fail("a plan that has ended goes on");
  const PlanLog log(task, *plan_of(head.agent.value));
  std::set<std::string> told;
  for (const auto& result : turn.results) told.insert(result.id);
  for (const std::string& call : told) {
    if (log.taken().contains(call)) world.fibers.fail(call + " is told to a plan that has taken it in");
  }
  // Calls that stopped before this turn. Those that have stopped since may also be among the results.
  std::map<std::string, std::string> calls;
  std::set<std::string> stopped;
  for (const Model::Event& event : task.log) {
    const auto* child = std::get_if<task::Subagent>(&event.body);
    if (child == nullptr) continue;
    if (child->phase == Phase::started) calls[child->id] = child->call;
    const bool ends = child->phase == Phase::finished || child->phase == Phase::failed;
    if (ends && event.head.turn != head.turn) stopped.insert(calls[child->id]);
  }
  for (const std::string& call : stopped) {
    if (!log.taken().contains(call) && !told.contains(call))
      world.fibers.fail("a plan's turn begins without the result of " + call + simulation::told(task));
  }
  if (turn.attempt == 1) return;
  SOMETIMES(plan_turn_begun_again);
  for (const std::string& path : log.facts().open()) {
    const auto* attempts = log.facts().attempts(path);
    if (!turn.children.contains(agents::name_of_call(path, attempts->number)))
      SOMETIMES(plan_began_lost_children_again);
  }
}

void check_plans(World& world) {
  for (const auto& [key, task] : world.model.tasks()) {
    const task::TaskHead& head = task.head();
    if (plan_of(head.agent.value) != nullptr) PlanCheck(world, task).run();
    const bool worked = is_step_agent(head.agent.value) && head.state == task::State::completed;
    if (worked && !world.step_calls.has(head.id.value, head.attempt))
      world.fibers.fail("step " + head.id.value + " is done and was not begun");
  }
}

void note_plans_killed(const Model& model) {
  for (const auto& [key, task] : model.tasks()) {
    const task::TaskHead& head = task.head();
    const auto* plan = plan_of(head.agent.value);
    if (plan == nullptr || task::is_terminal(head.state)) continue;
    const PlanLog log(task, *plan);
    if (log.is_undoing()) SOMETIMES(killed_while_a_plan_is_undone);
    if (task::is_waiting(head.state)) SOMETIMES(killed_while_a_plan_asks);
    if (head.turn_state == task::TurnState::waiting && head.awaited == 0)
      SOMETIMES(killed_while_a_plan_waits_for_a_time);
    for (const auto& [id, child] : log.children()) {
      if (child.ended && !log.taken().contains(child.call))
        SOMETIMES(killed_between_a_childs_end_and_its_plan);
    }
  }
}

}  // namespace baton::simulation
