#include "engine/decide/rules/child_questions.h"

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "base/text.h"

namespace baton::engine {

std::string ask_of(const std::string& subagent, task::EventNumber number) {
  return subagent + "." + std::to_string(number.value);
}

AskParts parts_of_ask(const std::string& ask) {
  const std::size_t dot = ask.rfind('.');
  if (dot == std::string::npos) return {ask, {}};
  return {ask.substr(0, dot), {base::number_in<std::int64_t>(ask.substr(dot + 1)).value_or(0)}};
}

ChildQuestion* ChildQuestions::find(All& all, task::TaskKey parent, const std::string& ask) {
  const auto found = all.find(parent);
  if (found == all.end()) return nullptr;
  const auto one = std::ranges::find(found->second, ask, &ChildQuestion::ask);
  return one == found->second.end() ? nullptr : &*one;
}

void ChildQuestions::add(task::TaskKey parent, ChildQuestion question) {
  all_.with([&](All& all) {
    if (find(all, parent, question.ask) == nullptr) all[parent].push_back(std::move(question));
    tasks_ = static_cast<int>(all.size());
  });
}

std::optional<ChildQuestion> ChildQuestions::answer(task::TaskKey parent, const std::string& ask) {
  return all_.with([&](All& all) -> std::optional<ChildQuestion> {
    ChildQuestion* const question = find(all, parent, ask);
    if (question == nullptr || std::exchange(question->answered, true)) return std::nullopt;
    return *question;
  });
}

void ChildQuestions::reopen(task::TaskKey parent, const std::string& ask) {
  all_.with([&](All& all) {
    if (ChildQuestion* const question = find(all, parent, ask)) question->answered = false;
  });
}

bool ChildQuestions::forget(task::TaskKey parent, const std::string& subagent, task::EventNumber before) {
  if (tasks_ == 0) return false;
  return all_.with([&](All& all) {
    const auto found = all.find(parent);
    if (found == all.end()) return false;
    const auto count = std::erase_if(found->second, [&](const ChildQuestion& one) {
      return parts_of_ask(one.ask).subagent == subagent && one.number < before;
    });
    if (found->second.empty()) all.erase(found);
    tasks_ = static_cast<int>(all.size());
    return count > 0;
  });
}

std::vector<task::TaskKey> ChildQuestions::tasks() const {
  if (tasks_ == 0) return {};
  return all_.with([](const All& all) {
    std::vector<task::TaskKey> tasks;
    for (const auto& [task, questions] : all) tasks.push_back(task);
    return tasks;
  });
}

std::vector<task::TaskKey> ChildQuestions::asking(task::TaskKey parent) const {
  if (tasks_ == 0) return {};
  return all_.with([&](const All& all) {
    std::vector<task::TaskKey> children;
    const auto found = all.find(parent);
    if (found == all.end()) return children;
    for (const ChildQuestion& one : found->second) children.push_back(one.child);
    return children;
  });
}

ChildQuestions::Turnover ChildQuestions::turnover(const task::TaskHead& parent) const {
  const bool has_turn = parent.turn_state != task::TurnState::none;
  const bool shows = has_turn && task::is_waiting(parent.state);
  if (!has_turn || (!shows && tasks_ == 0)) return {};
  return all_.with([&](const All& all) {
    Turnover turnover;
    const auto found = all.find(parent.key);
    const bool any = found != all.end();
    // The question that the task shows, or that was answered through another node, stays as it is.
    const auto is_open = [&](const ChildQuestion& one) {
      return !one.answered && one.ask == parent.ask && one.about == parent.turn_message;
    };
    if (any && std::ranges::any_of(found->second, is_open)) return turnover;
    turnover.withdraws = shows;
    if (!any || parent.turn_state == task::TurnState::queued || parent.cancel_requested) return turnover;
    const auto next = std::ranges::find_if(found->second, [&](const ChildQuestion& one) {
      return !one.answered && one.about == parent.turn_message;
    });
    if (next != found->second.end()) turnover.next = *next;
    return turnover;
  });
}

void withdraw_question(task::Change& change, base::Timestamp now) {
  change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, now}, {}});
  if (!change.turn) change.turn.emplace();
  change.turn->ask.emplace();
}

void show_question(task::Change& change, const ChildQuestion& question, base::Timestamp now) {
  task::StatusChanged asks{question.status, {}, question.ask};
  asks.status.at = now;
  asks.status.reply_parts = 0;
  // The message is in the child's history under its own id.
  if (asks.status.message) asks.status.message->id.value = base::make_uuid();
  asks.status.asked_by.insert(asks.status.asked_by.begin(),
                              {question.agent, question.child_id, question.ask});
  change.events.push_back(std::move(asks));
  if (!change.turn) change.turn.emplace();
  change.turn->ask = question.ask;
}

void turn_over(task::Change& change, const ChildQuestions::Turnover& turnover, base::Timestamp now) {
  if (turnover.withdraws) withdraw_question(change, now);
  if (turnover.next) show_question(change, *turnover.next, now);
}

}  // namespace baton::engine
