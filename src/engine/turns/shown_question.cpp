#include "engine/turns/shown_question.h"

namespace baton::engine {
namespace {

constexpr int kEventsPage = 500;

}  // namespace

base::Result<TurnLog> read_turn_log(const TaskReader& reader, const task::TaskHead& head) {
  return read_turn_log(head,
                       [&](task::EventNumber after) { return reader.events(head.key, after, kEventsPage); });
}

base::Result<ChildQuestion> read_question(const TaskReader& reader, const task::TaskHead& parent,
                                          const task::Subagent& subagent, task::EventNumber number) {
  const auto child = reader.head(subagent.task);
  if (!child) return base::fail(child.error());
  // The question may have to be shown again, if its answer is refused while another question is shown.
  const auto asks = reader.read_committed(child->key, task::Depth{0, false});
  if (!asks) return base::fail(asks.error());
  return ChildQuestion{ask_of(subagent.id, number), child->key,  child->id, child->agent, number,
                       parent.turn_message,         asks->status};
}

base::Result<void> learn_question(const TaskReader& reader, task::TaskKey parent, ChildQuestions& questions) {
  const auto head = reader.head(parent);
  if (!head) return base::fail(head.error());
  const auto log = read_turn_log(reader, *head);
  if (!log) return base::fail(log.error());
  const AskParts shown = parts_of_ask(head->ask);
  for (const task::Subagent& child : log->subagents.awaited()) {
    if (!task::is_waiting(head->state) || shown.subagent != child.id) continue;
    auto question = read_question(reader, *head, child, shown.number);
    if (!question) return base::fail(std::move(question.error()));
    questions.add(parent, std::move(*question));
    return {};
  }
  return {};
}

}  // namespace baton::engine
