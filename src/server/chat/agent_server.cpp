#include "protocol/chat/protocol.h"
#include "server/chat/doors.h"
#include "server/chat/run.h"

namespace baton::server::chat {

void stream(const CallPtr& call) {
  static const auto as_response = protocol::chat::make_agent_server_protocol("response");
  static const auto as_message = protocol::chat::make_agent_server_protocol("message");
  const bool says_message = call->services.options.chat.response_event == "message";
  run(call, says_message ? *as_message : *as_response);
}

}  // namespace baton::server::chat
