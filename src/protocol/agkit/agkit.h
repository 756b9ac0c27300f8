// AG-Kit's send-message.
#pragma once

#include "protocol/chat/protocol.h"

namespace baton::protocol::agkit {

const chat::Protocol& protocol();

}  // namespace baton::protocol::agkit
