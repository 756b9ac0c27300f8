// AG-Kit's send-message (agent-protocols.md section 2).
#pragma once

#include "wire/chat/protocol.h"

namespace baton::wire::agkit {

const chat::Protocol& protocol();

}  // namespace baton::wire::agkit
