#include "agents/tool_spans.h"

#include <utility>

#include "task/span_names.h"

namespace baton::agents {

void end_tool_span(base::SpanTimer& timer, const std::string& name, const std::string& call,
                   std::string error) {
  namespace names = task::spans;
  if (!timer.wants(!error.empty())) return;
  base::Span span;
  span.name = std::string(names::kExecuteTool) + " " + name;
  span.error = std::move(error);
  span.with(names::kOperation, names::kExecuteTool).with(names::kToolName, name);
  timer.end(std::move(span.with(names::kToolCall, call)));
}

void ToolSpans::record(base::SpanQueue& spans, const std::string& trace, const task::EventBody& body) {
  if (const auto* call = std::get_if<task::ToolCall>(&body); call != nullptr && !call->by_client) {
    open_.try_emplace(call->id, Call{call->name, base::SpanTimer(&spans, trace)});
  }
  const auto* result = std::get_if<task::ToolResult>(&body);
  const auto open = result == nullptr ? open_.end() : open_.find(result->id);
  if (open == open_.end()) return;
  end_tool_span(open->second.timer, open->second.name, result->id, result->error.empty() ? "" : "failed");
  open_.erase(open);
}

void ToolSpans::end_all() {
  for (auto& [id, call] : open_) end_tool_span(call.timer, call.name, id, kUnfinished);
  open_.clear();
}

}  // namespace baton::agents
