// Spans of tool calls: of those that an agent makes itself, and those that a model has made for it.
//
// Threads: one at a time.
#pragma once

#include <map>
#include <string>

#include "base/span.h"
#include "task/event.h"

namespace baton::agents {

// Ends the span of a call. `error`: what kind of failure; empty: none.
void end_tool_span(base::SpanTimer& timer, const std::string& name, const std::string& call,
                   std::string error);

inline constexpr const char* kUnfinished = "unfinished";  // the error of a call that the turn's end broke off

// ToolSpans: the calls that one turn has announced and not yet told the results of.
class ToolSpans {
 public:
  // Begins a span with a call and ends it with its result. `trace`: the turn's `traceparent`. A call that the
  // task's caller is to answer has none: it may take days.
  void take(base::SpanQueue& spans, const std::string& trace, const task::EventBody& body);
  // Ends what is still open as unfinished: something else than the agent has ended the turn.
  void end_all();

 private:
  struct Call {
    std::string name;
    base::SpanTimer timer;
  };
  std::map<std::string, Call> open_;  // by its id
};

}  // namespace baton::agents
