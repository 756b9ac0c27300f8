#include "server/chat/call.h"

#include "base/log.h"
#include "server/chat/run_stream.h"
#include "server/shared/answers.h"

namespace baton::server::chat {
http::Reply error_reply(const base::Error& error, const task::AgentName& agent) {
  const int status = error_row(error.code).chat;
  if (status == 500 || error.code == base::ErrorCode::unavailable) {
    base::log_error({{"agent", agent.value}}, "{} {}", error.for_caller, error.for_log);
  }
  return plain_error(status, error.for_caller.empty() ? "internal error" : error.for_caller);
}

void PlainCall::reply(int status, std::string body) {
  http::Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  if (share) share->shrink(reply.body.capacity());
  reply.held = std::move(share);
  exchange->reply(std::move(reply));
}

void ChatCall::open_stream(http::StreamOpener opener) {
  exchange->open_stream({}, services.options.streams.kept(std::move(hold), std::move(opener)));
}

void ChatCall::reply_stream(protocol::chat::Frames frames) {
  std::string blocks;
  for (auto& frame : frames.all()) append_frame(blocks, frame, {});
  if (share) share->shrink(blocks.capacity());
  exchange->reply_stream({}, std::move(blocks), std::move(share));
}

}  // namespace baton::server::chat
