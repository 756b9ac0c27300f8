#include <initializer_list>

#include "http/accept.h"
#include "protocol/chat/protocol.h"
#include "server/chat/doors.h"
#include "server/chat/run.h"

namespace baton::server::chat {
namespace {

bool has_any(json::Value body, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!body[name].missing()) return true;
  }
  return false;
}

// The first rule that fits.
bool is_ag_ui(json::Value body, const http::Request& request) {
  if (has_any(body, {"threadId", "runId", "protocolVersion"}) || body["resume"].is_array()) return true;
  if (has_any(body, {"conversationId"}) || body["resume"].is_object()) return false;
  if (http::names_type(request, "application/vnd.ag-ui.event+proto")) return true;
  if (has_any(body, {"forwardedProps", "state", "context"})) return true;
  if (!body["tools"].is_array()) return false;
  for (const json::Value tool : body["tools"]) {
    if (tool["parameters"].is_string()) return false;
    if (tool["parameters"].is_object()) return true;
  }
  return false;
}

}  // namespace

void send_message(const CallPtr& call) {
  using SendMessage = ChatOptions::SendMessage;
  const SendMessage speaks = call->services.options.chat.send_message;
  const bool ag_ui =
      speaks == SendMessage::ag_ui ||
      (speaks == SendMessage::as_body_says && is_ag_ui(call->document.root(), call->exchange->request()));
  run(call, ag_ui ? protocol::chat::agui_protocol() : protocol::chat::agkit_protocol());
}

void ag_ui(const CallPtr& call) {
  run(call, protocol::chat::agui_protocol());
}

}  // namespace baton::server::chat
