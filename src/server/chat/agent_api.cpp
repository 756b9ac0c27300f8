#include "protocol/chat/protocol.h"

#include "json/writer.h"
#include "protocol/chat/run_request.h"
#include "server/chat/conversation.h"
#include "server/chat/doors.h"
#include "server/chat/run.h"

namespace baton::server::chat {
namespace {

// An optional string of the body.
base::Result<std::string> read_text(const Call& call, const std::string& name) {
  const json::Value value = call.document.root()[name];
  if (value.absent()) return std::string();
  if (value.is_string() && value.string().size() <= protocol::chat::kIdMax) return value.str();
  return base::fail(base::ErrorCode::invalid_argument, name + ": must be a string of at most " +
                                                           std::to_string(protocol::chat::kIdMax) + " bytes");
}

base::Result<std::vector<task::TaskHead>> running_in_session(const Call& call) {
  const auto session = read_text(call, "session_id");
  if (!session) return base::fail(session.error());
  if (session->empty()) return base::fail(base::ErrorCode::invalid_argument, "session_id: must not be empty");
  if (const auto user = read_text(call, "user_id"); !user) return base::fail(user.error());
  return running_tasks(call, {*session});
}

}  // namespace

void process(const CallPtr& call) {
  run(call, protocol::chat::agent_api_protocol());
}

void stop(const CallPtr& call) {
  const auto running = running_in_session(*call);
  if (!running) return call->refuse(running.error());
  for (const task::TaskHead& head : *running) {
    call->tasks().cancel(head.key, [](const base::Result<task::TaskKey>&) {});
  }
  std::string body;
  json::Writer out(body);
  out.object(
      [&] { out.member("status", "stopping").member("runs", static_cast<std::int64_t>(running->size())); });
  call->reply(200, std::move(body));
}

}  // namespace baton::server::chat
