#include "agents/workflow/workflow_executor.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

constexpr std::size_t kStepShownMax = 2'048;  // bytes of a step's text in the parent's stream

// A turn is over when `start` returns, so there is nothing to stop.
class Nothing final : public Execution {
 public:
  void cancel() override {}
  void deliver(DelegateResult) override {}
};

std::string shortened(std::string text) {
  if (text.size() <= kStepShownMax) return text;
  text.resize(base::beginning_of(text, kStepShownMax).size());
  return text + "…";
}

// What a step has made, by reference: the caller reads it from the child.
task::Part reference_to(const task::Task& child, const std::string& step) {
  task::Json facts;
  json::Writer out(facts.text);
  out.object([&] {
    out.member("step", step).member("task", child.id.value);
    out.key("artifacts").each(child.artifacts, [&](const task::Artifact& artifact) {
      out.object([&] {
        out.member("artifactId", artifact.id.value).optional("name", artifact.name);
        out.member("bytes", static_cast<std::int64_t>(task::weight_of(artifact)));
      });
    });
  });
  return task::Part::of_data(std::move(facts));
}

bool is_plain_text(const task::Artifact& artifact) {
  return artifact.name.empty() && std::ranges::all_of(artifact.parts, [](const auto& part) {
           return part.kind == task::Part::Kind::text;
         });
}

// How many leaves the plan has, as far as that is known.
double leaves_in(const PlanStep& step, const PlanFacts& facts) {
  if (step.steps.empty()) return 1;
  double leaves = 0;
  for (const auto& one : step.steps) leaves += leaves_in(*one, facts);
  if (step.kind == PlanStep::Kind::route) return leaves / static_cast<double>(step.steps.size());
  const bool is_top = step.parent == nullptr;
  const auto count = step.kind == PlanStep::Kind::map && is_top ? facts.chosen(step.id) : std::nullopt;
  return leaves * std::max(1, count.value_or(1));
}

class WorkflowTurn {
 public:
  WorkflowTurn(std::shared_ptr<const Plan> own, base::Timestamp now, const ChooseAgent& choose,
               const Turn& turn, TurnSink& sink)
      : plan_(std::move(own)), now_(now), choose_(choose), turn_(turn), sink_(sink) {}

  void run() {
    for (const task::Json& state : turn_.states) {
      for (const PlanRecord& record : read_records(state)) facts_.add(record);
    }
    if (!pin()) return sink_.finish(Failed{"the plan that this task began with cannot be read any more"});
    const auto read = [this](const std::string& call) -> base::Result<task::Task> {
      const auto child = turn_.children.find(call);
      if (child == turn_.children.end())
        return base::fail(base::ErrorCode::not_found, "there is no such child");
      return turn_.read_child(child->second);
    };
    PlanRun run(*plan_, facts_,
                {now_, turn_.message, read, choose_, turn_.budget, turn_.taken, turn_.canceled});
    for (const DelegateResult& result : turn_.results) {
      taken_.push_back(result.id);
      if (run.take(result)) told_.push_back(&result);
    }
    if (turn_.attempt > 1)
      run.begin_again([this](const std::string& call) { return turn_.children.contains(call); });
    PlanRun::Step step = run.advance();
    show(run, step);
    keep(step);
    for (const std::string& call : step.cancels) sink_.cancel_child(call);
    for (DelegateRequest& begin : step.begins) sink_.delegate(std::move(begin));
    step.end ? finish(run, *step.end) : wait(step);
  }

 private:
  // The plan is the one that the run began with, whatever the card says now.
  bool pin() {
    if (facts_.plan().empty() || facts_.plan() == plan_->text) return true;
    plan_ = read_begun_plan(facts_.plan());
    return plan_ != nullptr;
  }

  void keep(const PlanRun::Step& step) {
    if (step.records.empty() && taken_.empty()) return;
    sink_.emit(task::ExecutorState{write_records(step.records), std::move(taken_)});
  }

  // What the steps that have ended have said, for whoever follows the task.
  void show(PlanRun& run, const PlanRun::Step& step) {
    if (!plan_->shows_results || step.end || told_.empty()) return;
    task::Message message;
    for (const DelegateResult* result : told_) {
      const std::string label = parse_call(result->id).path;
      const task::Task* child = result->task ? run.values().child(result->id) : nullptr;
      const std::string said = !result->error.empty() ? result->error : child ? text_of_result(*child) : "";
      message.parts.push_back(task::Part::of_text(label + ": " + shortened(said)));
      if (child != nullptr && !std::ranges::all_of(child->artifacts, is_plain_text))
        message.parts.push_back(reference_to(*child, label));
    }
    const double all = leaves_in(plan_->root, facts_);
    const double share = std::min(0.99, static_cast<double>(facts_.done().size()) / all);
    task::Json metadata;
    json::Writer out(metadata.text);
    out.object([&] { out.key("progress").real(share); });
    sink_.emit(task::StatusChanged{{task::State::working, std::move(message), {}}, std::move(metadata)});
  }

  void wait(const PlanRun::Step& step) {
    if (step.need == 0 && !step.until) return sink_.finish(Failed{"the plan cannot go on"});
    Waits waits;
    waits.open_max = step.need > 0 ? facts_.unstopped() - step.need : -1;
    waits.on_failure = step.need > 0;
    waits.until = step.until;
    sink_.finish(std::move(waits));
  }

  void finish(PlanRun& run, const PlanEnd& end) {
    if (!end.failure.empty()) {
      if (turn_.canceled) return sink_.finish(Canceled{end.text});
      const bool is_rejected = end.failure == task::name_of(task::State::rejected);
      return sink_.finish(is_rejected ? Outcome(Rejected{end.text}) : Outcome(Failed{end.text}));
    }
    if (plan_->output.empty()) {
      for (const std::string& call : run.values().results_of(plan_->root, run.root())) {
        if (const task::Task* child = run.values().child(call)) pass_on(*child);
      }
    } else {
      for (task::Part& part : run.values().parts_of(plan_->output, run.root())) pass_on(std::move(part));
    }
    sink_.finish(Done{});
  }

  void say(const std::string& text) {
    if (text.empty()) return;
    if (std::exchange(has_said_, true)) sink_.text("\n\n");
    sink_.text(text);
  }

  void pass_on(const task::Task& child) {
    say(text_of_reply(child));
    for (const task::Artifact& artifact : child.artifacts) {
      if (is_plain_text(artifact)) continue;
      task::Artifact copy = artifact;
      copy.id = {};
      copy.ordinal = 0;
      copy.in_status = false;
      sink_.emit(task::ArtifactChunk{std::move(copy), false, true});
    }
  }

  void pass_on(task::Part part) {
    if (part.kind == task::Part::Kind::text) return say(part.content);
    task::Artifact artifact;
    artifact.name = part.filename;
    artifact.parts.push_back(std::move(part));
    sink_.emit(task::ArtifactChunk{std::move(artifact), false, true});
  }

  static std::string text_of_reply(const task::Task& child) {
    std::string text;
    for (const task::Artifact& artifact : child.artifacts) {
      if (!is_plain_text(artifact)) continue;
      for (const task::Part& part : artifact.parts) text += part.content;
    }
    return text.empty() && child.artifacts.empty() ? text_of_result(child) : text;
  }

  std::shared_ptr<const Plan> plan_;
  const base::Timestamp now_;
  const ChooseAgent& choose_;
  const Turn& turn_;
  TurnSink& sink_;
  PlanFacts facts_;
  std::vector<std::string> taken_;
  std::vector<const DelegateResult*> told_;
  bool has_said_ = false;
};

class WorkflowExecutor final : public Executor {
 public:
  WorkflowExecutor(std::shared_ptr<const Plan> plan, const base::Clock& clock, ChooseAgent choose)
      : plan_(std::move(plan)), clock_(clock), choose_(std::move(choose)) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    WorkflowTurn(plan_, clock_.now(), choose_, turn, *sink).run();
    return std::make_unique<Nothing>();
  }

 private:
  const std::shared_ptr<const Plan> plan_;
  const base::Clock& clock_;
  const ChooseAgent choose_;
};

class AskExecutor final : public Executor {
 public:
  explicit AskExecutor(bool for_auth) : for_auth_(for_auth) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    task::Message message;
    message.parts = std::move(turn.message.parts);
    if (turn.resume_ask.empty()) {
      sink->finish(Asked{turn.id, for_auth_, std::move(message)});
    } else {
      sink->finish(Done{std::move(message)});
    }
    return std::make_unique<Nothing>();
  }

 private:
  const bool for_auth_;
};

}  // namespace

std::unique_ptr<Executor> workflow_executor(const AgentSettings& settings, const base::Clock& clock,
                                            ChooseAgent choose) {
  return std::make_unique<WorkflowExecutor>(settings.plan, clock, std::move(choose));
}

std::unique_ptr<Executor> ask_executor(bool for_auth) {
  return std::make_unique<AskExecutor>(for_auth);
}

}  // namespace baton::agents
