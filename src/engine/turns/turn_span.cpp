#include "engine/turns/turn_span.h"

#include "base/trace_context.h"
#include "task/apply.h"
#include "task/span_names.h"

namespace baton::engine {
namespace {
namespace names = task::spans;
}

void add_turn_span(base::SpanQueue& spans, const RunningTurn& run, const task::TaskHead& head) {
  const bool has_failed = head.turn_state == task::TurnState::none &&
                          (head.state == task::State::failed || head.state == task::State::rejected);
  const RunningTurn::Lineage lineage = run.lineage();
  if (!base::SpanQueue::takes(lineage.trace, has_failed)) return;
  base::Span span;
  span.trace = lineage.trace;
  span.parent = lineage.parent;
  span.name = std::string(names::kInvokeAgent) + " " + head.agent.value;
  span.took = run.age();
  if (has_failed) span.error = task::name_of(head.state);
  if (!lineage.first.empty() && lineage.first != lineage.parent) span.links.push_back(lineage.first);
  span.with(names::kOperation, names::kInvokeAgent).with(names::kAgentName, head.agent.value);
  span.with(names::kConversation, head.context.value).with(names::kA2aTask, head.id.value);
  span.with(names::kA2aState, task::name_of(head.state));
  span.with(names::kTurn, head.turn.value).with(names::kAttempt, std::int64_t{head.attempt});
  if (head.tokens > 0) span.with(names::kTokens, head.tokens);
  spans.add(std::move(span));
}

void link_to_first(RunningTurn& run, const task::TaskHead& head, const TaskReader& reader) {
  if (head.turn_message <= task::kFirstMessage) return;
  RunningTurn::Lineage lineage = run.lineage();
  if (!base::is_sampled(lineage.trace)) return;
  const auto first = reader.turn_input(head.key, task::kFirstMessage);
  if (!first) return;
  lineage.first = first->request.trace;
  run.inherit(std::move(lineage));
}

void add_child_span(base::SpanTimer& timer, const std::string& agent, const task::TaskId& child,
                    std::string error) {
  if (!timer.wants(!error.empty())) return;
  base::Span span;
  span.name = "submit " + agent;
  span.kind = base::Span::Kind::producer;
  span.error = std::move(error);
  span.with(names::kAgentName, agent).with(names::kA2aTask, child.value);
  timer.end(std::move(span));
}

}  // namespace baton::engine
