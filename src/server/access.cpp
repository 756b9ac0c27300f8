#include "server/access.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "base/trace_context.h"
#include "http/http_text.h"
#include "server/hosts.h"

namespace baton::server {
namespace {

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i] ^ other));
  }
  return difference == 0;
}

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const bool is_bearer = base::same_word(authorization.substr(0, kScheme.size()), kScheme);
  return is_bearer ? authorization.substr(kScheme.size()) : std::string_view();
}

bool is_loopback_page(std::string_view origin) {
  return (origin.starts_with("http://") || origin.starts_with("https://")) &&
         is_loopback_host(host_in_url(origin));
}

bool origin_allowed(const ServerOptions& options, std::string_view origin) {
  return std::ranges::any_of(options.cors_origins, [&](const std::string& allowed) {
    return allowed == "*" || allowed == origin || (allowed == "loopback" && is_loopback_page(origin));
  });
}

// Null: unknown token.
const Token* find_token(const std::vector<Token>& tokens, std::string_view authorization) {
  const std::string_view given = bearer_token(authorization);
  const Token* known = nullptr;
  for (const Token& token : tokens) {
    if (!given.empty() && equal_in_constant_time(given, token.secret)) known = &token;
  }
  return known;
}

}  // namespace

TokenList& TokenList::operator=(std::vector<Token> tokens) {
  auto list = std::make_unique<const std::vector<Token>>(std::move(tokens));
  state_->all.with([&](auto& all) {
    state_->now.store(list.get(), std::memory_order_release);
    all.push_back(std::move(list));
  });
  return *this;
}

base::Result<task::Caller> authenticate(const ServerOptions& options, const http::Request& request,
                                        const task::AgentName& agent) {
  const std::string_view authorization = request.header("Authorization");
  const auto is_authorization = [](const auto& header) {
    return http::same_word(header.first, "Authorization");
  };
  // A proxy may have checked the other header. (For HTTP requests the connection layer refuses duplicates.)
  if (std::ranges::count_if(request.headers, is_authorization) > 1) {
    return base::fail(base::ErrorCode::unauthenticated, "more than one Authorization header");
  }
  const std::vector<Token>& tokens = options.tokens.now();
  // Without configured tokens a token is ignored: many clients send one anyway.
  if (options.anonymous && (authorization.empty() || tokens.empty())) return task::kAnonymous;
  const Token* known = find_token(tokens, authorization);
  if (!known) return base::fail(base::ErrorCode::unauthenticated, "a valid bearer token is needed");
  const bool good_here = known->agents.empty() || std::find(known->agents.begin(), known->agents.end(),
                                                            agent.value) != known->agents.end();
  if (!good_here) return base::fail(base::ErrorCode::permission_denied, "this token is not for this agent");
  return known->caller;
}

std::string trace_of(const http::Request& request) {
  std::string_view given;
  for (const auto& [name, value] : request.headers) {
    if (!http::same_word(name, "traceparent")) continue;
    if (given.data() != nullptr) return {};
    given = value;
  }
  return base::read_traceparent(given);
}

bool may_send_body(const ServerOptions& options, const http::Request& head) {
  const std::vector<Token>& tokens = options.tokens.now();
  if (tokens.empty()) return true;
  const std::string_view authorization = head.header("Authorization");
  return authorization.empty() ? options.anonymous : find_token(tokens, authorization) != nullptr;
}

bool origin_may_call(const ServerOptions& options, const http::Request& request) {
  const std::string_view origin = request.header("Origin");
  if (origin.empty()) return true;
  return options.cors && origin_allowed(options, origin);
}

std::vector<std::pair<std::string, std::string>> cors_headers(const ServerOptions& options,
                                                              const http::Request& request) {
  const std::string_view origin = request.header("Origin");
  if (!options.cors || origin.empty() || !origin_allowed(options, origin)) return {};
  return {{"Access-Control-Allow-Origin", std::string(origin)},
          {"Vary", "Origin"},
          {"Access-Control-Expose-Headers",
           "WWW-Authenticate, Retry-After, ETag, A2A-Extensions, X-A2A-Extensions"}};
}

http::Reply preflight(const ServerOptions& options, const http::Request& request) {
  http::Reply reply;
  reply.status = 204;
  reply.content_type.clear();
  reply.headers = cors_headers(options, request);
  reply.headers.emplace_back("Allow", "GET, POST, DELETE, OPTIONS");
  if (reply.headers.size() == 1) return reply;
  reply.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
  reply.headers.emplace_back("Access-Control-Allow-Headers",
                             "Content-Type, Authorization, Accept, Last-Event-ID, If-None-Match, "
                             "A2A-Version, A2A-Extensions, X-A2A-Extensions, "
                             "traceparent");
  reply.headers.emplace_back("Access-Control-Max-Age", "600");
  return reply;
}

}  // namespace baton::server
