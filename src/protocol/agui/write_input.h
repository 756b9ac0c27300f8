// Writes RunAgentInput, as a client of AG-UI.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "protocol/chat/run_request.h"
#include "task/message.h"

namespace baton::protocol::agui {

// A client's request for a run.
struct ClientRun {
  std::string thread;
  std::string run;
  std::vector<task::Message> messages;  // the whole conversation, the newest last
  std::vector<chat::Answer> answers;    // to the interrupts at the end of the last run
  task::Json tools;                     // the client's, a list; or absent
  task::Json state;                     // or absent
  task::Json context;                   // a list, or absent
  task::Json forwarded_props;           // an object, or absent
  bool newer = true;                    // declares version 1.0, and writes files in its form
};

// Writes the request with all members that servers of any version require.
std::string write_input(const ClientRun& run);

// Returns the answer that a message gives to an interrupt: its data, or else its text. The data
// {"cancelled":true} means that the interrupt was not answered.
chat::Answer answer_in(const task::Message& message);

}  // namespace baton::protocol::agui
