// The Agent Server stream API.
#pragma once

#include "protocol/chat/protocol.h"

namespace baton::protocol::agent_server {

// `response_event`: the SSE event name of response objects, "response" or "message" (a setting).
std::unique_ptr<chat::Protocol> make_protocol(std::string response_event);

}  // namespace baton::protocol::agent_server
