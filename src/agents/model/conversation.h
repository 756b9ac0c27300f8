// What a turn tells a language model: the system prompt, what was said before, the message.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "protocol/openai/request.h"

namespace baton::agents {

// Of the history, the last messages that fit the bounds of `settings`. Calls of the client's tools and their
// results become what they were: servers refuse a call without a result and a result without a call, so a
// missing result is said to be missing, and a result whose call is not there is left out.
std::vector<protocol::openai::ChatMessage> conversation_of(const Turn& turn, const ModelSettings& settings,
                                                           const std::string& system);

// What a child task has come to, in words for the model that called the agent.
std::string words_of(const DelegateResult& result);

}  // namespace baton::agents
