// The two ways to show a run: as a chat completion, and as a response of Responses.
//
// A stream ends with "[DONE]" and its frames have no ids. The frames of a response are numbered from 0
// (sequence_number); since a run is encoded anew from its log each time it is shown, a frame has the same
// number on every node and after every restart.
// Threads: any; stateless.
#pragma once

#include "protocol/chat/protocol.h"

namespace baton::protocol::openai {

// `tells_usage`: a stream ends with the usage.
const chat::Protocol& completions(bool tells_usage);
const chat::Protocol& responses();

}  // namespace baton::protocol::openai
