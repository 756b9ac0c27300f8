// Writes RunAgentInput, as a client of AG-UI.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "protocol/chat/run_request.h"
#include "task/message.h"

namespace baton::protocol::agui {

// What a client asks for.
struct ClientRun {
  std::string thread;
  std::string run;
  std::vector<task::Message> messages;  // the whole conversation, the newest last
  std::vector<chat::Answer> answers;    // to the interrupts with which the last run ended
  task::Json tools;                     // the client's, a list; or absent
  task::Json state;                     // or absent
  task::Json context;                   // a list, or absent
  task::Json forwarded_props;           // an object, or absent
  bool newer = true;                    // says that it speaks 1.0, and writes files in its form
};

// All members that servers of any version want are there.
std::string write_input(const ClientRun& run);

// The answer that a message gives to an interrupt: its data, else its text. Data {"cancelled":true} says that
// nobody answered.
chat::Answer answer_in(const task::Message& message);

}  // namespace baton::protocol::agui
