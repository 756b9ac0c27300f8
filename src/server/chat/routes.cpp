#include "server/chat/routes.h"

#include <array>
#include <initializer_list>

#include "http/accept.h"
#include "http/http_text.h"
#include "json/writer.h"
#include "protocol/chat/protocol.h"
#include "server/chat/conversation.h"
#include "server/chat/run.h"
#include "server/shared/answers.h"

namespace baton::server::chat {
namespace {

// AG-UI and AG-Kit share a path; the body decides which of them a request is.

bool has_any(json::Value body, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!body[name].missing()) return true;
  }
  return false;
}

// The first rule that matches decides.
bool is_ag_ui(json::Value body, const http::Request& request) {
  if (has_any(body, {"threadId", "thread_id", "runId", "run_id", "protocolVersion"})) return true;
  if (body["resume"].is_array()) return true;
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

// Agent API: starts a run; stops a session's runs.

// An optional string of the body.
base::Result<std::string> read_text(const ChatCall& call, const std::string& name) {
  const json::Value value = call.document.root()[name];
  if (value.absent()) return std::string();
  if (value.is_string() && value.string().size() <= protocol::chat::kIdMax) return value.str();
  return base::fail(base::ErrorCode::invalid_argument, name + ": must be a string of at most " +
                                                           std::to_string(protocol::chat::kIdMax) + " bytes");
}

base::Result<std::vector<task::TaskHead>> running_in_session(const ChatCall& call) {
  const auto session = read_text(call, "session_id");
  if (!session) return base::fail(session.error());
  if (session->empty()) return base::fail(base::ErrorCode::invalid_argument, "session_id: must not be empty");
  if (const auto user = read_text(call, "user_id"); !user) return base::fail(user.error());
  return running_tasks(call, {*session});
}

void process(const CallPtr& call) {
  run(call, protocol::chat::agent_api_protocol());
}

void stop(const CallPtr& call) {
  const auto running = running_in_session(*call);
  if (!running) return call->refuse(running.error());
  for (const task::TaskHead& head : *running) {
    call->services.engine.cancels().cancel(head.key, [](const base::Result<task::TaskKey>&) {});
  }
  std::string body;
  json::Writer out(body);
  out.object(
      [&] { out.member("status", "stopping").member("runs", static_cast<std::int64_t>(running->size())); });
  call->reply(200, std::move(body));
}

// Agent Server.

void stream(const CallPtr& call) {
  static const auto as_response = protocol::chat::make_agent_server_protocol("response");
  static const auto as_message = protocol::chat::make_agent_server_protocol("message");
  const bool says_message = call->services.options.chat.response_event == "message";
  run(call, says_message ? *as_message : *as_response);
}

constexpr PathRow chat_row(std::string_view pattern, Handler handler, Protocol speaks,
                           Scope scope = Scope::send) {
  return {Place::agent, "POST", pattern, ChatProtocol{handler, speaks, scope}};
}
constexpr std::array kChatPaths{
    chat_row("/send-message[/]", &send_message, Protocol::send_message),
    chat_row("/ag-ui[/]", &ag_ui, Protocol::ag_ui),
    chat_row("/process[/]", &process, Protocol::agent_api),
    chat_row("/stop[/]", &stop, Protocol::agent_api, Scope::cancel),
    chat_row("/stream[/]", &stream, Protocol::agent_server),
    // The path of hosted AG-Kit agents.
    PathRow{Place::root, "POST", "/v1/aibot/bots/{agent}/send-message",
            ChatProtocol{&send_message, Protocol::send_message}},
};

}  // namespace

std::span<const PathRow> paths() {
  return kChatPaths;
}

void handle(RunClaims& claims, std::shared_ptr<http::Exchange> exchange, const Admitted& by,
            Handler handler) {
  const std::string_view type = http::media_type(exchange->request().header("Content-Type"));
  if (!http::same_word(type, "application/json")) {
    return exchange->reply(plain_error(415, "Content-Type: must be application/json"));
  }
  auto document = json::Document::parse(exchange->take_body());
  if (!document) return exchange->reply(plain_error(400, document.error().for_caller));
  if (!document->root().is_object()) return exchange->reply(plain_error(400, "the body must be an object"));
  const auto call = std::make_shared<ChatCall>(std::move(exchange), by, claims, std::move(*document));
  // A caller at its stream limit can still stop a run.
  if (handler != &stop) call->hold = by.services.options.streams.acquire(call->caller);
  if (handler != &stop && !call->hold) {
    return call->refuse(too_many_open_runs());
  }
  handler(call);
}

}  // namespace baton::server::chat
