#include "agents/plan/workflow_executor.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

constexpr std::size_t kStepShownMax = 2'048;  // bytes of a step's text in the parent's stream
constexpr base::Duration kReadAgain = std::chrono::seconds(1);  // after a child could not be read

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

// The result of a step, by reference: the caller reads it from the child.
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

// An estimate of the number of leaves that a run of the plan has.
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
  WorkflowTurn(PlanMemory& memory, base::Timestamp now, const ChooseAgent& choose, const PlanOptions& options,
               const Turn& turn, TurnSink& sink)
      : memory_(memory),
        facts_(memory.facts),
        now_(now),
        choose_(choose),
        options_(options),
        turn_(turn),
        sink_(sink) {
    for (const SaidReply& one : turn.said) {
      said_places_[one.id] = said_.size();
      said_.emplace(said_.size(), one);
    }
  }

  // Returns true if the run continues, and its memory can serve the next turn.
  bool run(const std::shared_ptr<const Plan>& own) {
    const bool is_folded_anew = memory_.states == 0;
    for (std::size_t index = memory_.states; index < turn_.states.size(); ++index) {
      for (const PlanRecord& record : read_records(turn_.states[index])) facts_.add(record);
    }
    note_states(turn_.states.size(), turn_.states.empty() ? "" : turn_.states.back().text);
    if (!pin(own)) {
      sink_.finish(
          Failed{"the plan that this task started with can no longer be read, so its completed steps were "
                 "not undone"});
      return false;
    }
    const auto read = [this](const std::string& call) -> base::Result<task::Task> {
      const auto child = turn_.children.find(call);
      if (child == turn_.children.end())
        return base::fail(base::ErrorCode::not_found, "child task not found");
      auto task = turn_.read_child(child->second);
      has_unread_ = has_unread_ || (!task && base::may_pass(task.error()));
      return task;
    };
    PlanRun run(*plan_, facts_,
                {now_,
                 memory_.sources,
                 read,
                 choose_,
                 turn_.budget,
                 turn_.taken,
                 turn_.canceled,
                 {options_.fill_max, [this] { return !has_unread_ && sink_.is_wanted(); }},
                 options_.undo_grace});
    // An attempt may have been broken off between its records and its children. If a cancel came during the
    // next attempt, which was then left, this is the first attempt of another turn.
    if (turn_.attempt > 1 || is_folded_anew)
      run.begin_again([this](const std::string& call) {
        return turn_.children.contains(call) ||
               std::ranges::count(turn_.results, call, &DelegateResult::id) > 0;
      });
    for (const DelegateResult& result : turn_.results) {
      taken_.push_back(result.id);
      if (run.take(result)) told_.push_back(&result);
    }
    PlanRun::Step step = run.advance();
    if (step.is_left || has_unread_) return leave();
    if (!step.end) withdraw_failed(step);
    show(run, step);
    keep(step);
    for (const std::string& call : step.cancels) sink_.cancel_child(call);
    for (DelegateRequest& begin : step.begins) sink_.delegate(std::move(begin));
    step.end ? finish(run, step) : wait(step);
    return !step.end;
  }

 private:
  // The plan is the one that the run began with, whatever the card says now.
  bool pin(const std::shared_ptr<const Plan>& own) {
    if (memory_.plan == nullptr) {
      const bool is_own = facts_.plan().empty() || facts_.plan() == own->text;
      memory_.plan = is_own ? own : read_begun_plan(facts_.plan());
    }
    plan_ = memory_.plan;
    return plan_ != nullptr;
  }

  void note_states(std::size_t count, const std::string& last) {
    memory_.states = count;
    memory_.last_state = last;
  }

  // Leaves a turn without any effect: one that is not wanted any more, or that could not read what it needs.
  // After a cancel, the next turn undoes the completed steps. If a read failed, the next turn reads again.
  bool leave() {
    Waits again;
    again.until = has_unread_ ? now_ + kReadAgain : now_;
    sink_.finish(has_unread_ || plan_->undoes ? Outcome(again) : Outcome(Canceled{}));
    return false;
  }

  void keep(const PlanRun::Step& step) {
    if (step.records.empty() && taken_.empty()) return;
    task::Json state = write_records(step.records);
    note_states(memory_.states + 1, state.text);
    sink_.emit(task::ExecutorState{std::move(state), std::move(taken_)});
  }

  // Shows the results of the steps that have ended to clients that follow the task.
  void show(PlanRun& run, const PlanRun::Step& step) {
    if (!plan_->shows_results || step.end || told_.empty()) return;
    task::Message message;
    for (const DelegateResult* result : told_) {
      const std::string label = parse_call(result->id).path;
      const auto child = result->task ? run.values().child(result->id) : nullptr;
      const std::string said = !result->error.empty() ? result->error : child ? child->text() : "";
      message.parts.push_back(task::Part::of_text(label + ": " + shortened(said)));
      if (child != nullptr && !std::ranges::all_of(child->task().artifacts, is_plain_text))
        message.parts.push_back(reference_to(child->task(), label));
    }
    const double all = leaves_in(plan_->root, facts_);
    const double share = std::min(0.99, static_cast<double>(facts_.done().size()) / all);
    task::Json metadata;
    json::Writer out(metadata.text);
    out.object([&] { out.key("progress").real(share); });
    sink_.emit(task::StatusChanged{{task::State::working, std::move(message), {}}, std::move(metadata)});
  }

  void wait(const PlanRun::Step& step) {
    if (step.need == 0 && !step.until) return sink_.finish(Failed{"the plan cannot continue"});
    Waits waits;
    waits.open_max = step.need > 0 ? facts_.unstopped() - step.need : -1;
    waits.on_failure = step.need > 0;
    waits.until = step.until;
    sink_.finish(std::move(waits));
  }

  void finish(PlanRun& run, PlanRun::Step& step) {
    const PlanEnd& end = *step.end;
    if (!end.failure.empty()) {
      if (turn_.canceled) return sink_.finish(Canceled{end.text});
      const bool is_rejected = end.failure == task::name_of(task::State::rejected);
      return sink_.finish(is_rejected ? Outcome(Rejected{end.text}) : Outcome(Failed{end.text}));
    }
    if (!step.not_undone.empty()) {
      task::Message message;
      for (std::string& sentence : step.not_undone)
        message.parts.push_back(task::Part::of_text(std::move(sentence)));
      sink_.emit(task::StatusChanged{{task::State::working, std::move(message), {}}, {}});
    }
    if (plan_->output.empty()) {
      for (const std::string& call : run.values().results_of(plan_->root, run.root())) {
        if (!sink_.is_wanted()) break;
        const auto child = run.values().child(call);
        if (child != nullptr) pass_on(*child, shows_replies(call));
        // It was read before, but had to be dropped from memory.
        if (child == nullptr && has_unread_) return sink_.finish(BrokenOff{});
      }
    } else {
      const auto answering = child_that_answers(run);
      for (task::Part& part : step.output) {
        const bool is_answer =
            answering != nullptr && part.kind == task::Part::Kind::text && part.content == answering->text();
        is_answer ? reply_with(*answering) : pass_on(std::move(part));
      }
    }
    withdraw_said();
    sink_.finish(Done{});
  }

  // The child whose text is the text of the plan's output, if all of that text is in replies.
  std::shared_ptr<PlanSources::Child> child_that_answers(PlanRun& run) {
    if (plan_->answers == nullptr) return nullptr;
    const auto calls = run.values().results_of(*plan_->answers, place_of(*plan_->answers));
    const auto child = calls.size() == 1 ? run.values().child(calls.front()) : nullptr;
    const bool is_all_replies =
        child != nullptr && std::ranges::all_of(child->task().artifacts, [](const task::Artifact& artifact) {
          const bool has_text =
              std::ranges::count(artifact.parts, task::Part::Kind::text, &task::Part::kind) > 0;
          return is_plain_text(artifact) || !has_text;
        });
    return is_all_replies ? child : nullptr;
  }

  // Not of a step in a loop or a map.
  static PlanPlace place_of(const PlanStep& step) {
    return step.parent == nullptr ? PlanPlace{step.id, {}} : place_in(place_of(*step.parent), step);
  }

  // Withdraws what was shown of attempts that have failed or are given up: another attempt, or another step,
  // takes their place. A plan that fails leaves it, as an agent does that fails in the middle of its reply.
  void withdraw_failed(const PlanRun::Step& step) {
    if (said_.empty()) return;
    std::vector<std::string> calls = step.cancels;
    for (const DelegateResult& result : turn_.results) {
      if (!result.error.empty()) calls.push_back(result.id);
    }
    // Only one step at a time shows its replies.
    if (std::ranges::any_of(calls, [this](const std::string& call) { return shows_replies(call); }))
      withdraw_said();
  }

  bool shows_replies(const std::string& call) const {
    const StepAt at = find_at(*plan_, parse_call(call).path);
    return at.step != nullptr && at.step->shows_replies;
  }

  // The id under which a child's reply is shown here.
  task::ArtifactId id_of(const task::Artifact& reply) const {
    return {turn_.said_ids + std::to_string(reply.ordinal)};
  }

  // Withdraws the replies that are not the plan's after all.
  void withdraw_said() {
    for (const auto& [place, one] : std::exchange(said_, {})) sink_.reply({one.id, {}, true, true});
  }

  // Completes the child's replies, which were shown up to some point.
  void reply_with(PlanSources::Child& child) {
    for (const task::Artifact& artifact : child.task().artifacts) {
      if (is_plain_text(artifact)) reply_with(artifact);
    }
  }

  void reply_with(const task::Artifact& reply) {
    std::string text;
    for (const task::Part& part : reply.parts) text += part.content;
    const task::ArtifactId id = id_of(reply);
    const auto place = said_places_.find(id);
    const auto there = place == said_places_.end() ? said_.end() : said_.find(place->second);
    if (there == said_.end()) return sink_.reply({id, std::move(text), true, true});
    const SaidReply& said = there->second;
    const bool goes_on = text.starts_with(said.text);
    const bool is_whole = goes_on && text.size() == said.text.size() && !said.is_open;
    if (goes_on) text.erase(0, said.text.size());
    said_.erase(there);
    if (!is_whole) sink_.reply({id, std::move(text), !goes_on, true});
  }

  void say(const std::string& text) {
    if (text.empty()) return;
    const bool begins = !std::exchange(has_said_, true);
    // The plan's words take the place of the first reply that was shown of another step.
    if (begins && !said_.empty()) {
      replaced_ = said_.begin()->second.id;
      said_.erase(said_.begin());
    }
    std::string piece = begins ? text : "\n\n" + text;
    replaced_.empty() ? sink_.text(std::move(piece))
                      : sink_.reply({replaced_, std::move(piece), begins, false});
  }

  void pass_on(PlanSources::Child& child, bool is_shown) {
    const bool has_replies = std::ranges::any_of(child.task().artifacts, is_plain_text);
    is_shown&& has_replies ? reply_with(child) : say(text_of_reply(child));
    for (const task::Artifact& artifact : child.task().artifacts) {
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

  static std::string text_of_reply(PlanSources::Child& child) {
    std::string text;
    for (const task::Artifact& artifact : child.task().artifacts) {
      if (!is_plain_text(artifact)) continue;
      for (const task::Part& part : artifact.parts) text += part.content;
    }
    return text.empty() && child.task().artifacts.empty() ? child.text() : text;
  }

  PlanMemory& memory_;
  PlanFacts& facts_;  // in the memory
  std::shared_ptr<const Plan> plan_;
  const base::Timestamp now_;
  const ChooseAgent& choose_;
  const PlanOptions& options_;
  const Turn& turn_;
  // The replies in the log that this turn has neither completed nor withdrawn, in order.
  std::map<std::size_t, SaidReply> said_;
  std::unordered_map<task::ArtifactId, std::size_t> said_places_;  // keys of `said_`
  TurnSink& sink_;
  std::vector<std::string> taken_;
  std::vector<const DelegateResult*> told_;
  bool has_said_ = false;
  bool has_unread_ = false;    // a child could not be read now, but may be soon
  task::ArtifactId replaced_;  // the shown reply whose place `say` takes
};

class WorkflowExecutor final : public Executor {
 public:
  WorkflowExecutor(std::shared_ptr<const Plan> plan, const base::Clock& clock, ChooseAgent choose,
                   const PlanOptions& options, std::shared_ptr<PlanMemories> memories)
      : plan_(std::move(plan)),
        clock_(clock),
        choose_(std::move(choose)),
        options_(options),
        memories_(std::move(memories)) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    auto memory = memories_->take(turn);
    const bool goes_on = WorkflowTurn(*memory, clock_.now(), choose_, options_, turn, *sink).run(plan_);
    if (goes_on) memories_->keep(turn.key, std::move(memory));
    return std::make_unique<Nothing>();
  }

 private:
  const std::shared_ptr<const Plan> plan_;
  const base::Clock& clock_;
  const ChooseAgent choose_;
  const PlanOptions options_;
  const std::shared_ptr<PlanMemories> memories_;  // shared with other plans' executors
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
                                            ChooseAgent choose, const PlanOptions& options,
                                            std::shared_ptr<PlanMemories> memories) {
  return std::make_unique<WorkflowExecutor>(settings.plan, clock, std::move(choose), options,
                                            std::move(memories));
}

std::unique_ptr<Executor> ask_executor(bool for_auth) {
  return std::make_unique<AskExecutor>(for_auth);
}

}  // namespace baton::agents
