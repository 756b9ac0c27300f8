// Spans of tool calls: those that an agent makes itself, and those that Baton makes for a model.
//
// Threads: one at a time.
#pragma once

#include <map>
#include <string>

#include "base/span.h"
#include "task/event.h"

namespace baton::agents {

// Ends the span of a call. `error`: the kind of failure; empty: the call succeeded.
void end_tool_span(base::SpanTimer& timer, const std::string& name, const std::string& call,
                   std::string error);

inline constexpr const char* kUnfinished = "unfinished";  // the error of a call that the turn's end broke off

// ToolSpans: the tool calls that one turn has announced and that have no result yet.
class ToolSpans {
 public:
  // Begins a span with a call and ends it with its result. `trace`: the turn's `traceparent`. Calls that
  // the task's caller answers get no span, because they may take days.
  void record(base::SpanQueue& spans, const std::string& trace, const task::EventBody& body);
  // Ends the open spans as unfinished. For a turn that was not ended by its agent.
  void end_all();

 private:
  struct Call {
    std::string name;
    base::SpanTimer timer;
  };
  std::map<std::string, Call> open_;  // by its id
};

}  // namespace baton::agents
