// AG-Kit's send-message.
#pragma once

#include "wire/chat/protocol.h"

namespace baton::wire::agkit {

const chat::Protocol& protocol();

}  // namespace baton::wire::agkit
