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

// ToolSpans: the calls that one turn has announced and not yet told the results of. A call that is still open
// when the engine itself ends the turn (its deadline, a cancel's grace) has no span.
class ToolSpans {
 public:
  // Begins a span with a call and ends it with its result. `trace`: the turn's `traceparent`. A call that the
  // task's caller is to answer has none: it may take days.
  void take(base::SpanQueue& spans, const std::string& trace, const task::EventBody& body);

 private:
  struct Call {
    std::string name;
    base::SpanTimer timer;
  };
  std::map<std::string, Call> open_;  // by its id
};

}  // namespace baton::agents
