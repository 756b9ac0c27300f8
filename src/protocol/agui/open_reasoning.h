// OpenReasoning: shows an agent's reasoning, one span with one message at a time.
//
// Most clients in use show REASONING_* and ignore the older THINKING_*; src/README.md has the survey.
// THINKING_* have no ids and so cannot overlap. Threads: one at a time.
#pragma once

#include <string>

#include "protocol/agui/out.h"
#include "task/event.h"

namespace baton::protocol::agui {

class OpenReasoning {
 public:
  OpenReasoning(Names& names, bool has_ids) : names_(names), has_ids_(has_ids) {}

  void show(const task::ReasoningDelta& piece, Out& out);
  void close(Out& out);

 private:
  void start(const std::string& span, Out& out);
  void content(const std::string& text, Out& out);

  Names& names_;
  const bool has_ids_;  // REASONING_*, else THINKING_*
  std::string span_;    // the open span's id in the log; empty: none
  std::string id_;      // the span's id for clients
};

}  // namespace baton::protocol::agui
