#include "outbound/post.h"

#include <algorithm>
#include <utility>

namespace baton::outbound {
namespace {

using std::chrono::milliseconds;
using PostEnd = Posted::Kind;

constexpr std::size_t kErrorBodyMax = 64u << 10;  // bytes kept of a refusal
constexpr int kUnauthorized = 401;

Posted without_token(const TokenError& error) {
  Posted posted;
  posted.kind = PostEnd::no_token;
  posted.text = error.text;
  posted.may_come = error.may_come;
  posted.held = error.held;
  posted.retry_after = error.retry_after;
  return posted;
}

// The kind of a request that failed without an answer.
PostEnd kind_of(const base::Error& error, bool was_connected) {
  const bool may_come_back =
      error.code == base::ErrorCode::unavailable || error.code == base::ErrorCode::deadline_exceeded;
  if (!may_come_back) return PostEnd::forbidden;
  return was_connected ? PostEnd::lost : PostEnd::unreachable;
}

Posted post_once(const Server& server, const Rules& rules, const Credentials& credentials, const Post& post,
                 std::string token, const std::function<bool(std::string_view)>& on_data) {
  HttpRequest request = rules.request_to(post.url);
  request.despite_breaker = post.despite_breaker;
  request.body = post.body;
  request.content_type = "application/json";
  request.headers.emplace_back("Accept", post.accept);
  const bool is_key = server.auth == Server::Auth::api_key;
  if (!token.empty() && !is_key) request.headers.emplace_back("Authorization", "Bearer " + token);
  if (!token.empty() && is_key) request.headers.emplace_back(server.auth_header, token);
  for (const auto& [name, value] : post.headers) request.headers.emplace_back(name, value);
  if (!post.trace.empty()) request.headers.emplace_back("traceparent", post.trace);
  request.total_timeout = std::max(post.time_max, milliseconds(1));
  request.answer_max = kErrorBodyMax;
  request.mask = credentials.mask();
  request.stop_fd = post.stop_fd;
  request.intake = post.intake;
  request.patience = post.patience;
  bool was_connected = false;
  Posted posted;
  request.on_connected = [&] { was_connected = true; };
  request.on_held = [&](milliseconds time) { posted.retry_after = time; };
  auto answer = http_stream(request, milliseconds(0), [&](std::string_view piece) {
    posted.has_begun = true;
    return on_data(piece);
  });
  posted.token = std::move(token);
  posted.held = posted.retry_after.count() > 0;
  if (!answer) {
    posted.kind = kind_of(answer.error(), was_connected);
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

Posted send_post(const Server& server, const Rules& rules, Credentials& credentials, const Post& post,
                 const std::function<bool(std::string_view)>& on_data) {
  for (bool is_second = false;; is_second = true) {
    const auto token = credentials.find(post.stop_fd, post.despite_breaker);
    if (!token) return without_token(token.error());
    Posted posted = post_once(server, rules, credentials, post, *token, on_data);
    if (posted.answer.status != kUnauthorized || is_second || !credentials.renew(*token)) return posted;
  }
}

}  // namespace baton::outbound
