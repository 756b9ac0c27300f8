// What a turn tells an AG-UI endpoint, and what the ids of its questions say about it.
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

// The id of the question that these interrupts are; empty: it would be too long.
std::string ask_for(const std::string& turn, const std::vector<protocol::agui::Interrupt>& interrupts);
// The id of our own question, whether the message is to be sent again.
std::string ask_for_resending(const Turn& turn);

// Whether the turn answers that question, and says yes.
bool is_about_resending(const Turn& turn);
bool says_resend(const Turn& turn);

// Nothing: the message that is to be sent again is no longer at hand.
std::optional<protocol::agui::ClientRun> run_input(const Turn& turn);

}  // namespace baton::agents
