#include "outbound/post.h"

#include <algorithm>
#include <utility>

namespace baton::outbound {
namespace {

using std::chrono::milliseconds;
using PostEnd = Posted::Kind;

constexpr std::size_t kErrorBodyMax = 64u << 10;  // bytes kept of a refusal

Posted without_token(const TokenError& error) {
  Posted posted;
  posted.kind = PostEnd::no_token;
  posted.text = error.text;
  posted.may_come = error.may_come;
  posted.held = error.held;
  posted.retry_after = error.retry_after;
  posted.asks = error.asks;
  return posted;
}

// The kind of a request that failed without an answer.
PostEnd kind_of(const base::Error& error, bool was_connected) {
  const bool may_come_back =
      error.code == base::ErrorCode::unavailable || error.code == base::ErrorCode::deadline_exceeded;
  if (!may_come_back) return PostEnd::forbidden;
  return was_connected ? PostEnd::lost : PostEnd::unreachable;
}

// The request without the header for the token.
HttpRequest request_of(const Rules& rules, Post post) {
  HttpRequest request = rules.request_to(std::move(post.url));
  request.despite_breaker = post.despite_breaker;
  request.body = std::move(post.body);
  request.content_type = "application/json";
  request.headers.emplace_back("Accept", post.accept);
  for (const auto& [name, value] : post.headers) request.headers.emplace_back(name, value);
  if (!post.trace.empty()) request.headers.emplace_back("traceparent", post.trace);
  request.total_timeout = std::max(post.time_max, milliseconds(1));
  request.answer_max = kErrorBodyMax;
  request.intake = post.intake;
  request.patience = std::move(post.patience);
  return request;
}

// The state of a request while it is made.
struct Progress {
  bool was_connected = false;
  bool has_begun = false;
  milliseconds held{0};
};

Posted posted_of(base::Result<HttpAnswer> answer, const Progress& progress, std::string token) {
  Posted posted;
  posted.has_begun = progress.has_begun;
  posted.retry_after = progress.held;
  posted.token = std::move(token);
  posted.held = posted.retry_after.count() > 0;
  if (!answer) {
    posted.kind = kind_of(answer.error(), progress.was_connected);
    posted.text = answer.error().for_caller;
    return posted;
  }
  const bool is_good = answer->status >= 200 && answer->status <= 299;
  posted.kind = is_good ? PostEnd::answered : PostEnd::refused;
  posted.retry_after = retry_after(*answer);
  posted.answer = std::move(*answer);
  return posted;
}

}  // namespace

PostCall::PostCall(const TokenCall::Services& services, const Server& server, const Rules& rules,
                   std::shared_ptr<Credentials> credentials, Post post,
                   std::function<bool(std::string_view)> on_data, std::function<void(Posted)> on_end)
    : call_(services, request_of(rules, std::move(post)), std::move(credentials),
            server.auth == Server::Auth::api_key ? server.auth_header : std::string(), milliseconds(0),
            {std::move(on_data), [on_end = std::move(on_end)](TokenCall::End end) {
               if (end.no_token) return on_end(without_token(*end.no_token));
               Posted posted = posted_of(std::move(end.answer), {end.was_connected, end.has_begun, end.held},
                                         std::move(end.token));
               posted.asks = std::move(end.asks);
               on_end(std::move(posted));
             }}) {}

}  // namespace baton::outbound
