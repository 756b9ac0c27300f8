#include "server/admission/access.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/api_key_text.h"
#include "base/clock.h"
#include "base/text.h"
#include "http/http_text.h"
#include "server/admission/hosts.h"
#include "server/admission/jwt_claims.h"
#include "server/admission/sessions.h"

namespace baton::server {
namespace {

constexpr std::string_view kMethods = "GET, POST, PATCH, DELETE, OPTIONS";

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (!base::begins_with(authorization, kScheme)) return {};
  authorization.remove_prefix(kScheme.size());
  // One or more spaces come before the token (RFC 9110, 11.6.2).
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  return authorization;
}

bool is_loopback_page(std::string_view origin) {
  return base::web_scheme(origin) != 0 && is_loopback_host(host_in_url(origin));
}

bool origin_allowed(const ServerOptions& options, std::string_view origin) {
  return std::ranges::any_of(options.cors_origins, [&](const std::string& allowed) {
    return allowed == "*" || base::same_word(allowed, origin) ||
           (allowed == "loopback" && is_loopback_page(origin));
  });
}

// The headers of a request that identify its caller.
struct Brought {
  std::string_view authorization;
  std::string_view key;     // of the header for keys
  bool is_unclear = false;  // there is more than one: a proxy may have checked another one
  bool empty() const { return authorization.empty() && key.empty(); }
};

Brought brought_by(const ServerOptions& options, const http::Request& request) {
  Brought brought;
  int authorizations = 0, keys = 0;
  for (const auto& [name, value] : request.headers) {
    if (http::same_word(name, "Authorization")) {
      brought.authorization = value;
      ++authorizations;
    } else if (!options.key_header.empty() && http::same_word(name, options.key_header)) {
      brought.key = http::trimmed(value);
      ++keys;
    }
  }
  brought.is_unclear = authorizations + keys > 1;
  return brought;
}

// The token that the request brings. A configured one is never destroyed, so its pointer owns nothing. A JWT
// may not be in the header for keys: it is a bearer token.
TokenSource::Found find_token(const ServerOptions& options, const Brought& brought) {
  const std::string_view bearer = bearer_token(brought.authorization);
  const std::string_view given = brought.key.empty() ? bearer : brought.key;
  if (given.empty() || brought.is_unclear) return {};
  const Token* known = nullptr;
  for (const Token& token : options.tokens.now()) {
    if (equal_in_constant_time(given, token.secret)) known = &token;
  }
  if (known != nullptr) return {TokenPtr(TokenPtr(), known)};
  if (options.api_keys && base::is_api_key(given)) return options.api_keys->find(given);
  return options.jwt && !bearer.empty() ? options.jwt->find(bearer) : TokenSource::Found();
}

tl::unexpected<base::Error> two_tokens() {
  return base::fail(base::ErrorCode::unauthenticated, "only one header with a token is allowed");
}

// The error for a request without a valid token. `wanted`: what is missing, for the caller.
base::Error no_token(const TokenSource::Found& found, std::string_view wanted) {
  if (found.is_pending)
    return {base::ErrorCode::unavailable, "the token cannot be checked at the moment; try again",
            found.reason};
  return {base::ErrorCode::unauthenticated, std::string(wanted), found.reason};
}

// A token decides if there is one. Browsers send certificates unasked, so one counts only if no page
// of another origin makes the request.
TokenSource::Found find_token(const ServerOptions& options, const http::Request& request) {
  const Brought brought = brought_by(options, request);
  if (!request.certificate || !brought.empty()) return find_token(options, brought);
  if (!is_of_own_page(options, request)) return {};
  const std::vector<Token>& tokens = options.tokens.now();
  const auto found = std::ranges::find_if(tokens, [&](const Token& token) {
    return !token.certificate.empty() && std::ranges::find(request.certificate->names, token.certificate) !=
                                             request.certificate->names.end();
  });
  return found == tokens.end() ? TokenSource::Found() : TokenSource::Found{TokenPtr(TokenPtr(), &*found)};
}

ChildAgents child_agents_of(const Token& token) {
  return token.binds_children ? std::make_shared<const std::vector<std::string>>(token.agents) : nullptr;
}

// Part of the token, so that a request costs no copy.
task::SubjectTokenPtr subject_of(const TokenPtr& token) {
  return token->subject.text.empty() ? nullptr : task::SubjectTokenPtr(token, &token->subject);
}

// Returns the headers that clients of our protocols send, and those that the page asks for, because SDKs add
// headers of their own. The page's origin is allowed already. The headers it asks for are ignored if they are
// malformed or too many.
std::string allowed_headers(const http::Request& request) {
  constexpr std::string_view kUsual =
      "Content-Type, Authorization, Accept, Last-Event-ID, If-None-Match, A2A-Version, A2A-Extensions, "
      "X-A2A-Extensions, traceparent";
  constexpr std::size_t kAskedMax = 2'048, kNamesMax = 64;
  std::string all(kUsual);
  std::string_view asked = request.header("Access-Control-Request-Headers");
  if (asked.size() > kAskedMax) return all;
  for (std::size_t names = 0; !asked.empty(); ++names) {
    const std::size_t end = std::min(asked.find(','), asked.size());
    const std::string_view name = http::trimmed(asked.substr(0, end));
    asked.remove_prefix(std::min(end + 1, asked.size()));
    if (!base::is_token(name) || names == kNamesMax) return std::string(kUsual);
    all.append(", ").append(name);
  }
  return all;
}

// Returns the request's page token; empty if it has none.
std::string_view page_token(const http::Request& request) {
  const std::string_view authorization = request.header("Authorization");
  if (const std::string_view given = bearer_token(authorization); is_page_token(given)) return given;
  if (!authorization.empty() || request.method != "GET") return {};
  for (const auto& [name, value] : request.query) {
    if (name == "access_token" && is_page_token(value)) return value;
  }
  return {};
}

}  // namespace

bool brings_token(const ServerOptions& options, const http::Request& request) {
  const auto in_query = [](const auto& member) { return member.first == "access_token"; };
  return !brought_by(options, request).empty() || std::ranges::any_of(request.query, in_query);
}

bool may_be_key_header(std::string_view name) {
  constexpr std::array<std::string_view, 13> kOthers{
      "authorization",     "host",          "origin",      "cookie",         "accept",
      "content-type",      "traceparent",   "connection",  "content-length", "user-agent",
      "transfer-encoding", "last-event-id", "x-csrf-token"};
  return !base::begins_with(name, "x-forwarded-") && !base::begins_with(name, "a2a-") &&
         !base::begins_with(name, "mcp-") && !base::begins_with(name, "sec-") &&
         std::ranges::none_of(kOthers, [&](std::string_view other) { return base::same_word(other, name); });
}

base::Result<Identity> identify(const ServerOptions& options, const http::Request& request,
                                const task::AgentName& agent) {
  const Brought brought = brought_by(options, request);
  if (brought.is_unclear) return two_tokens();
  if (const std::string_view of_page = page_token(request); !of_page.empty() && options.has_callers()) {
    auto page = identify_page(options, of_page, agent, base::SystemClock().now());
    if (!page) return base::fail(std::move(page.error()));
    return Identity{std::move(page->caller), child_agents_of(*page->rights), page->rights->scopes};
  }
  const TokenSource::Found found = find_token(options, request);
  const Token* const known = found.token.get();
  if (!known && options.anonymous && brought.empty()) return Identity{task::kAnonymous, nullptr};
  // If no caller has a token, unknown tokens are ignored: many clients send one anyway.
  if (!known && options.anonymous && !options.has_callers()) return Identity{task::kAnonymous, nullptr};
  if (!known) return base::fail(no_token(found, "a valid bearer token is required"));
  if (known->role == Role::views)
    return base::fail(base::ErrorCode::permission_denied,
                      "this token may only read: calling agents requires a caller's token");
  const bool good_here = known->agents.empty() || std::find(known->agents.begin(), known->agents.end(),
                                                            agent.value) != known->agents.end();
  if (!good_here)
    return base::fail(base::ErrorCode::permission_denied, "this token is not valid for this agent");
  return Identity{known->caller, child_agents_of(*known), known->scopes, subject_of(found.token)};
}

base::Result<task::Caller> authenticate(const ServerOptions& options, const http::Request& request,
                                        const task::AgentName& agent) {
  auto identity = identify(options, request, agent);
  if (!identity) return base::fail(std::move(identity.error()));
  return std::move(identity->caller);
}

Scopes scopes_of(const ServerOptions& options, const http::Request& request) {
  if (const std::string_view of_page = page_token(request); !of_page.empty()) {
    const auto page = identify_page(options, of_page, {}, base::SystemClock().now());
    return page ? page->rights->scopes : Scopes();
  }
  if (const TokenPtr known = find_token(options, request).token) return known->scopes;
  // As in `identify`.
  const bool is_anonymous =
      options.anonymous && (brought_by(options, request).empty() || !options.has_callers());
  return is_anonymous ? Scopes::all() : Scopes();
}

TokenPtr access_token_of(const ServerOptions& options, const http::Request& request) {
  const std::string_view given = bearer_token(request.header("Authorization"));
  return options.jwt && !given.empty() ? options.jwt->find(given).token : nullptr;
}

base::Result<PageSource> page_source(const ServerOptions& options, const http::Request& request) {
  const Brought brought = brought_by(options, request);
  if (brought.is_unclear) return two_tokens();
  auto session = session_of(options, request);
  if (!session) return base::fail(std::move(session.error()));
  const bool is_viewer = *session && (*session)->token.role == Role::views;
  if (*session && !is_viewer)
    return PageSource{PageSource::Kind::session, (*session)->id,
                      std::make_shared<const Token>(std::move((*session)->token)), (*session)->until,
                      (*session)->rules};
  const auto issuers = options.jwt ? options.jwt->issuers() : std::vector<TokenSource::Issuer>();
  const TokenSource::Found found = find_token(options, request);
  const std::string_view given = brought.key.empty() ? bearer_token(brought.authorization) : brought.key;
  const bool is_callers = found.token && found.token->role == Role::calls;
  if (!is_callers && is_viewer)
    return base::fail(base::ErrorCode::permission_denied,
                      "you have signed in as a viewer, who may not call agents");
  // A valid token is not called wrong, because clients then drop it, and their next tries are delayed.
  if (!is_callers && found.token)
    return base::fail(base::ErrorCode::permission_denied,
                      "this token is a viewer's or an operator's: a caller's own is required");
  if (!is_callers) return base::fail(no_token(found, "a caller's own bearer token is required"));
  PageSource source{PageSource::Kind::token, {}, found.token, found.until};
  if (!found.token->secret.empty()) return source;
  // The others are signed by this server.
  if (!options.token_secret) return base::fail(no_token({}, "a caller's own bearer token is required"));
  if (!found.token->certificate.empty()) {
    source.kind = PageSource::Kind::certificate;
    source.name = found.token->certificate;
    if (request.certificate->ends != std::chrono::sys_seconds::max())
      source.until = request.certificate->ends;
  } else if (const auto key = base::read_api_key(given)) {
    source.kind = PageSource::Kind::api_key;
    source.name = key->id;
  } else {
    source.kind = PageSource::Kind::jwt;
    source.name = issuer_of(found.token->caller);
    for (const TokenSource::Issuer& each : issuers) {
      if (each.url == source.name) source.rules = each.rules;
    }
  }
  return source;
}

base::Result<Operator> authenticate_operator(const ServerOptions& options, const http::Request& request) {
  if (brought_by(options, request).is_unclear) return two_tokens();
  const auto session = session_of(options, request);
  if (!session) return base::fail(session.error());
  const TokenSource::Found found =
      *session ? TokenSource::Found{TokenPtr(TokenPtr(), &(*session)->token)} : find_token(options, request);
  const Token* const known = found.token.get();
  if (!known) return base::fail(no_token(found, "a viewer's or operator's bearer token is required"));
  if (known->role == Role::calls)
    return base::fail(base::ErrorCode::permission_denied,
                      *session ? "you have signed in as a caller: a viewer's or operator's role is required"
                               : "this token belongs to a caller: a viewer's or operator's token is "
                                 "required");
  if (!known->scopes.has(Scope::read)) return base::fail(lacks(Scope::read));
  const bool may_act = known->role == Role::operates && known->scopes.has(Scope::operate);
  return Operator{known->caller.value, may_act, known->scopes, known->agents, known->binds_children};
}

TokenSource::Wait await_token(const ServerOptions& options, const http::Request& request,
                              std::function<void()> done) {
  const std::string_view given = bearer_token(request.header("Authorization"));
  if (!options.jwt || given.empty()) return TokenSource::Wait::none;
  return options.jwt->await(given, network_of(client_address(options, request)), std::move(done));
}

bool has_quick_token(const ServerOptions& options, const http::Request& request) {
  return !options.jwt || options.jwt->is_quick(bearer_token(request.header("Authorization")));
}

bool is_of_own_page(const ServerOptions& options, const http::Request& request) {
  const std::string own = own_origin(options, request);
  return std::ranges::all_of(request.headers, [&](const auto& header) {
    if (http::same_word(header.first, "Origin")) return base::same_word(header.second, own);
    if (!http::same_word(header.first, "Sec-Fetch-Site")) return true;
    return !base::same_word(header.second, "cross-site") && !base::same_word(header.second, "same-site");
  });
}

bool may_send_body(const ServerOptions& options, const http::Request& head) {
  const std::vector<Token>& tokens = options.tokens.now();
  const bool has_tokens = !tokens.empty() || options.has_callers();
  if (!has_tokens || (options.anonymous && !options.has_callers())) return true;
  if (const std::string_view of_page = page_token(head); !of_page.empty())
    return identify_page(options, of_page, {}, base::SystemClock().now()).has_value();
  const bool may_have_session = head.path.starts_with("/operate/") || head.path == "/tokens";
  return (brought_by(options, head).empty() && options.anonymous) ||
         find_token(options, head).token != nullptr ||
         (may_have_session && options.sessions && options.sessions->find(options, head).has_value());
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
  reply.headers.emplace_back("Allow", std::string(kMethods));
  if (reply.headers.size() == 1) return reply;
  reply.headers.emplace_back("Vary", "Access-Control-Request-Headers");
  reply.headers.emplace_back("Access-Control-Allow-Methods", std::string(kMethods));
  reply.headers.emplace_back("Access-Control-Allow-Headers", allowed_headers(request));
  reply.headers.emplace_back("Access-Control-Max-Age", "600");
  return reply;
}

}  // namespace baton::server
