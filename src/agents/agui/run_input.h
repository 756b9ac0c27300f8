// The input of a run at an AG-UI endpoint, made from a turn, and the ids of questions, which encode what
// they are about.
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "protocol/agui/run_reader.h"
#include "protocol/agui/write_input.h"

namespace baton::agents {

// The id of the question made from these interrupts; empty if it would be too long.
std::string ask_for(const std::string& turn, const std::vector<protocol::agui::Interrupt>& interrupts);
// The id of Baton's own question, which asks whether to send the message again.
std::string ask_for_resending(const Turn& turn);

// Whether the turn answers that question, and whether its answer is yes.
bool is_about_resending(const Turn& turn);
bool says_resend(const Turn& turn);

// Makes the run's input. Empty if the history no longer has the message that is to be sent again.
std::optional<protocol::agui::ClientRun> run_input(const Turn& turn);

}  // namespace baton::agents
