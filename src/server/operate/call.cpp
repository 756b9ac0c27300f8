#include "server/operate/call.h"

#include <utility>

#include "json/writer.h"
#include "server/shared/answers.h"

namespace baton::server::operate {
namespace {

http::Reply error_of(int status, std::string_view code, std::string_view message,
                     std::optional<std::int64_t> count) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.key("error").object([&] {
      out.member("code", code).member("message", message);
      if (count) out.member("count", *count);
    });
  });
  http::Reply reply = json_reply(std::move(body), status);
  if (status == 401)
    reply.headers.emplace_back("WWW-Authenticate", challenge_of({base::ErrorCode::unauthenticated, {}, {}}));
  if (status == 429 || status == 503) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

}  // namespace

http::Reply json_reply(std::string body, int status) {
  http::Reply reply;
  reply.status = status;
  reply.headers = {{"Cache-Control", "no-store"}};
  reply.body = std::move(body);
  return reply;
}

http::Reply error_reply(const base::Error& error, std::optional<std::int64_t> count) {
  const ErrorRow& row = error_row(error.code);
  const bool has_words = row.operators != 500 && !error.for_caller.empty();
  return error_of(row.operators, row.name,
                  has_words ? error.for_caller : "the request failed; for the reason, see the server's log",
                  count);
}

http::Reply error_reply(int status, std::string_view message) {
  return error_of(status, name_of_status(status), message, {});
}

void answer(const CallPtr& call, base::Result<std::string> json) {
  // Data that a power failure could still revert is not shown.
  if (json) call->facts.services.engine.settle_reads();
  call->exchange->reply(json ? json_reply(std::move(*json)) : error_reply(json.error()));
}

}  // namespace baton::server::operate
