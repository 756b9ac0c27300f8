#include "plan_agents.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>

#include "agents/plan/workflow_executor.h"
#include "json/document.h"
#include "plan_cases.h"
#include "plan_checks.h"
#include "protocol/a2a/baton_extension.h"
#include "world.h"

namespace baton::simulation {
namespace {

using agents::AgentSettings;
using std::chrono::milliseconds;

constexpr milliseconds kHangs = std::chrono::minutes(3);

struct Step {
  std::shared_ptr<agents::TurnSink> sink;
  agents::Turn turn;
  bool told = false, dropped = false;
  Fibers::WaitList news;
};

class RunningStep final : public agents::Execution {
 public:
  explicit RunningStep(std::shared_ptr<Step> step) : step_(std::move(step)) {}
  ~RunningStep() override {
    step_->dropped = true;
    fibers().wake_all(step_->news);
  }
  void cancel() override {
    step_->told = true;
    fibers().wake_all(step_->news);
  }
  void deliver(agents::DelegateResult) override {}

 private:
  const std::shared_ptr<Step> step_;
};

// Does what the text of its message says. The outcome follows from the message alone.
class Leaf final : public agents::Executor {
 public:
  explicit Leaf(World& world) : world_(world) {}

  std::unique_ptr<agents::Execution> start(agents::Turn turn,
                                           std::shared_ptr<agents::TurnSink> sink) override {
    if (!world_.is_dead(world_.fibers.process()))
      world_.step_calls.begin(world_, turn.task.value, turn.attempt);
    auto step = std::make_shared<Step>(Step{std::move(sink), std::move(turn), false, false, {}});
    world_.fibers.spawn([this, step] { work(*step); });
    return std::make_unique<RunningStep>(step);
  }

 private:
  Random& random() { return world_.random; }

  // Sleeps. Returns false if the step was canceled or dropped.
  bool nap(Step& step, Time time) const {
    const Time until = world_.fibers.now() + time;
    while (!step.told && !step.dropped && world_.fibers.now() < until) world_.fibers.wait(step.news, until);
    if (step.told && !step.dropped) step.sink->finish(agents::Canceled{});
    return !step.told && !step.dropped;
  }

  static int attempt_of(const task::Message& message) {
    const auto metadata = json::Document::view_of(message.metadata.text);
    return static_cast<int>(metadata.root()[protocol::kBatonExtension]["attempt"].integer().value_or(1));
  }

  void work(Step& step) {
    if (random().chance(600) && !nap(step, milliseconds(random().below(50)))) return;
    if (world_.features.breaks_off && !world_.calm() && random().chance(30)) {
      step.sink->text("never heard");
      world_.step_calls.broke_off(step.turn.task.value, step.turn.attempt);
      return step.sink->finish(agents::BrokenOff{});
    }
    std::istringstream words(task::text_of(step.turn.message));
    std::string verb, rest;
    words >> verb;
    const int attempt = attempt_of(step.turn.message);
    int failures = 0;
    if (verb == "flaky") words >> failures;
    std::getline(words >> std::ws, rest);
    if (verb == "slow" && !nap(step, milliseconds(random().below(3'000)))) return;
    if (verb == "hang" || (verb == "hang-first" && attempt == 1)) {
      if (!nap(step, kHangs)) return;
      return finish(step, agents::Failed{"it hung"});
    }
    use(step);
    if (verb == "fail" || attempt <= failures) return finish(step, agents::Failed{rest});
    if (verb == "The") return say(step, task::text_of(step.turn.message));
    if (verb == "count") return say(step, rest, {R"({"n":)" + rest + "}"});
    if (verb.empty()) return table(step);
    if (verb == "compare" || verb == "outliers") return analyse(step, verb == "outliers");
    if (verb == "page") return page(step);
    say(step, "(" + rest + ")");
  }

  static void use(Step& step) {
    task::Usage usage;
    usage.used.text = R"({"totalTokens":10})";
    usage.tokens = 10;
    step.sink->emit(std::move(usage));
  }

  void finish(Step& step, agents::Outcome outcome) {
    const auto sink = step.sink;
    sink->finish(std::move(outcome));
    if (!world_.features.speaks_late || !random().chance(200)) return;
    world_.fibers.sleep(milliseconds(random().below(200)));
    sink->text("too late");
    sink->finish(agents::Failed{"too late"});
  }

  void say(Step& step, const std::string& text, const task::Json& data = {}) {
    step.sink->text(text.substr(0, text.size() / 2));
    if (random().chance(300) && !nap(step, milliseconds(random().below(100)))) return;
    step.sink->text(text.substr(text.size() / 2));
    if (!data.empty()) file(step, "", task::Part::of_data(data));
    finish(step, agents::Done{});
  }

  static void file(Step& step, const std::string& name, task::Part part) {
    task::ArtifactChunk chunk;
    chunk.artifact.name = name;
    chunk.artifact.parts.push_back(std::move(part));
    chunk.last_chunk = true;
    step.sink->emit(std::move(chunk));
  }

  static task::Part page_of(std::string content, std::string name) {
    task::Part part{task::Part::Kind::url, std::move(content), std::move(name), {}, {}};
    return part;
  }

  void table(Step& step) {
    std::string content;
    for (const task::Part& part : step.turn.message.parts) {
      if (part.kind == task::Part::Kind::data) content += part.content;
    }
    file(step, "chart", page_of("chart " + content, "chart-" + content));
    say(step, "table " + content);
  }

  void analyse(Step& step, bool counts) {
    std::string compared;
    int found = 0;
    for (const task::Part& part : step.turn.message.parts) {
      if (part.kind != task::Part::Kind::data) continue;
      const auto data = json::Document::view_of(part.content);
      for (const json::Value table : data.root()["tables"]) {
        compared += "+" + table["text"].str();
        found += table["text"].string().find('9') != std::string_view::npos ? 1 : 0;
      }
    }
    const std::string number = std::to_string(found);
    counts ? say(step, number, {R"({"found":)" + number + "}"}) : say(step, compared);
  }

  void page(Step& step) {
    std::string content;
    for (const task::Part& part : step.turn.message.parts) {
      if (part.kind == task::Part::Kind::url) content += "|" + part.content;
      if (part.kind != task::Part::Kind::data) continue;
      const auto data = json::Document::view_of(part.content);
      content += data.root()["title"].str();
      for (const json::Value text : data.root()["texts"])
        content += "|" + text["title"].str() + ": " + text["text"].str();
    }
    file(step, "report.html", page_of(content, "report.html"));
    finish(step, agents::Done{});
  }

  World& world_;
};

// A simulated world may stand still for longer than the default time to undo.
agents::PlanOptions patient() {
  agents::PlanOptions options;
  options.undo_grace = std::chrono::hours(24);
  return options;
}

// The production executor, with a check of what each turn gets.
class PlanAgent final : public agents::Executor {
 public:
  PlanAgent(World& world, const AgentSettings& settings)
      : world_(world),
        inner_(agents::workflow_executor(
            settings, world.here()->clock(),
            [&world](const std::string& skill, const std::string& tag) {
              const auto* found = world.here()->skilled(skill, tag);
              return found ? std::optional(found->name.value) : std::nullopt;
            },
            patient(), std::make_shared<agents::PlanMemories>(64 << 20))) {}

  std::unique_ptr<agents::Execution> start(agents::Turn turn,
                                           std::shared_ptr<agents::TurnSink> sink) override {
    check_plan_turn(world_, turn);
    return inner_->start(std::move(turn), std::move(sink));
  }

 private:
  World& world_;
  const std::unique_ptr<agents::Executor> inner_;
};

}  // namespace

void StepCalls::begin(World& world, const std::string& task, int attempt) {
  const Model::Task& known = world.model.task(world.model.key_of(task));
  const bool is_again = world.model.was_requeued(known.head().key);
  if (task::is_terminal(known.head().state) && !is_again)
    world.fibers.fail("a step that has ended is done again: " + task);
  const auto [before, is_new] = all_.try_emplace({task, attempt}, powers_);
  if (!is_new && before->second == powers_ && !is_again)
    world.fibers.fail("attempt " + std::to_string(attempt) + " of a step was begun twice: " + task);
  before->second = powers_;
}

bool is_step_agent(const std::string& agent) {
  return agent == "leaf" || agent == "table-report" || agent == "analyst" || agent == "echo";
}

bool is_asked_by_plan(const std::string& agent) {
  return agent == agents::kAskAgent || agent == agents::kAskAuthAgent;
}

std::vector<agents::Agent> make_plan_agents(World& world) {
  std::vector<agents::Agent> all;
  for (const char* name : {"leaf", "table-report", "analyst", "echo"}) {
    agents::Agent agent;
    agent.name.value = name;
    agent.settings.turn_timeout = std::chrono::hours(24);
    agent.settings.cancel_grace = milliseconds(500);
    agent.settings.concurrency = 2 * world.features.concurrency;
    if (all.empty()) {
      task::Skill skill;
      skill.id = "leafing";
      agent.card.skills.push_back(std::move(skill));
    }
    agent.executor = std::make_unique<Leaf>(world);
    all.push_back(std::move(agent));
  }
  for (const PlanCase& one : plan_cases()) {
    agents::Agent agent;
    agent.name.value = one.agent;
    // Has to match what read_settings sets for a plan.
    agent.settings.executor = AgentSettings::Kind::workflow;
    agent.settings.plan = one.plan;
    agent.settings.budget = one.plan->budget;
    agent.settings.children_max = 1'000;
    agent.settings.resumes_beside_children = true;
    agent.settings.concurrency = 256;
    agent.executor = std::make_unique<PlanAgent>(world, agent.settings);
    all.push_back(std::move(agent));
  }
  return all;
}

std::vector<agents::Agent> make_ask_agents() {
  std::vector<agents::Agent> all;
  for (const char* name : {agents::kAskAgent, agents::kAskAuthAgent}) {
    agents::Agent agent;
    agent.name.value = name;
    agent.settings.concurrency = std::numeric_limits<int>::max();
    agent.executor = agents::ask_executor(name == agents::kAskAuthAgent);
    all.push_back(std::move(agent));
  }
  return all;
}

}  // namespace baton::simulation
