// OpenReasoning: what the agent thinks aloud, one span with one message at a time.
//
// Clients of 1.0 know REASONING_*; 0.0.42 fails the run for them, but all of 0.0.x take the older THINKING_*,
// which have no ids and so cannot overlap. Threads: one at a time.
#pragma once

#include <string>

#include "task/event.h"
#include "wire/agui/out.h"

namespace baton::wire::agui {

class OpenReasoning {
 public:
  OpenReasoning(Names& names, bool newer) : names_(names), newer_(newer) {}

  void show(const task::ReasoningDelta& piece, Out& out);
  void close(Out& out);

 private:
  void start(const std::string& span, Out& out);
  void content(const std::string& text, Out& out);

  Names& names_;
  const bool newer_;
  std::string span_;  // that is open, as the log names it; empty: none
  std::string id_;    // as clients know it
};

}  // namespace baton::wire::agui
