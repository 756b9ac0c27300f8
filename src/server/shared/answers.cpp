#include "server/shared/answers.h"

#include "json/writer.h"

namespace baton::server {

http::Reply plain_error(int status, std::string_view reason) {
  http::Reply reply;
  reply.status = status;
  json::Writer writer(reply.body);
  writer.object([&] { writer.member("error", reason); });
  reply.body += '\n';
  const bool may_come_back = status == 429 || status == 503;
  if (may_come_back) reply.headers.emplace_back("Retry-After", "1");
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"baton\"");
  return reply;
}

http::Reply refusal(const base::Error& error) {
  if (error.code == base::ErrorCode::unauthenticated) return plain_error(401, error.for_caller);
  if (error.code == base::ErrorCode::permission_denied) return plain_error(403, error.for_caller);
  return plain_error(404, error.for_caller);
}

}  // namespace baton::server
