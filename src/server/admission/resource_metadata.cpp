#include "server/admission/resource_metadata.h"

#include <algorithm>
#include <set>

#include "http/http_text.h"
#include "json/writer.h"
#include "server/admission/access.h"
#include "server/admission/hosts.h"
#include "server/admission/jwt_claims.h"
#include "server/shared/endpoint.h"

namespace baton::server {
namespace {

constexpr std::string_view kMcp = "/mcp";

// The URL of this server, without a slash at its end; empty if the request names no host.
std::string base_url(const ServerOptions& options, const http::Request& request) {
  std::string url = options.public_url;
  if (url.empty()) {
    if (is_host(named_host(options, request))) url = named_url(options, request);
  }
  while (url.ends_with('/')) url.pop_back();
  return url;
}

bool is_mcp(std::string_view rest) {
  return rest == kMcp || rest == "/mcp/";
}

// Returns the scopes that a client without the scope `lacked` must request, under the names of its
// authorization server. The new token replaces the token `held`, so it needs the scopes of that, too.
std::string scopes_to_ask_for(const std::vector<TokenSource::Issuer>& issuers, const TokenPtr& held,
                              std::string_view lacked) {
  const std::string url = held ? issuer_of(held->caller) : std::string();
  auto issuer = std::ranges::find(issuers, url, &TokenSource::Issuer::url);
  if (issuer == issuers.end()) issuer = issuers.begin();
  std::string names;
  for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
    const auto scope = static_cast<Scope>(i);
    const bool is_kept = held && held->scopes.has(scope) && !issuer->granted.has(scope);
    if (is_kept || kScopeNames[i] == lacked)
      names.append(names.empty() ? "" : " ").append(issuer->scope_prefix).append(kScopeNames[i]);
  }
  return names;
}

}  // namespace

std::string resource_path(std::string_view path) {
  if (!path.starts_with(kAgents)) return is_mcp(path) ? std::string(kMcp) : std::string();
  const std::size_t end = std::min(path.find('/', kAgents.size()), path.size());
  if (end == kAgents.size()) return {};
  return std::string(path.substr(0, end)) + std::string(is_mcp(path.substr(end)) ? kMcp : "");
}

http::Reply metadata_reply(const ServerOptions& options, const http::Request& request, std::string_view path,
                           std::string_view name) {
  std::vector<std::string> urls;
  std::set<std::string> scopes;
  for (const TokenSource::Issuer& each : options.jwt->issuers()) {
    urls.push_back(each.url);
    // MCP clients ask for all listed scopes. A scope that the authorization server does not know, or does not
    // give to the client, fails the sign-in. Agents need no `operate`.
    for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
      const auto scope = static_cast<Scope>(i);
      const bool is_needed = !each.granted.has(scope) && (scope != Scope::operate || path.empty());
      if (is_needed) scopes.insert(each.scope_prefix + std::string(kScopeNames[i]));
    }
  }
  http::Reply reply;
  reply.headers = {{"Cache-Control", "max-age=3600"}, {"Access-Control-Allow-Origin", "*"}};
  if (options.public_url.empty()) reply.headers.emplace_back("Vary", "Host");
  json::Writer out(reply.body);
  out.object([&] {
    out.member("resource", base_url(options, request) + std::string(path));
    out.key("authorization_servers").strings(urls);
    out.optional("scopes_supported", std::vector<std::string>(scopes.begin(), scopes.end()));
    out.key("bearer_methods_supported").strings({"header"});
    out.optional("resource_name", name);
  });
  return reply;
}

void complete_challenge(const ServerOptions& options, const http::Request& request, http::Reply& reply) {
  if (!options.jwt) return;
  const auto challenge = std::ranges::find_if(
      reply.headers, [](const auto& header) { return header.first == "WWW-Authenticate"; });
  if (challenge == reply.headers.end()) return;
  constexpr std::string_view kScope = R"(scope=")";
  const auto issuers = options.jwt->issuers();
  if (std::size_t at = challenge->second.find(kScope); at != std::string::npos && !issuers.empty()) {
    at += kScope.size();
    const std::size_t size = challenge->second.find('"', at) - at;
    const std::string lacked = challenge->second.substr(at, size);
    challenge->second.replace(at, size,
                              scopes_to_ask_for(issuers, access_token_of(options, request), lacked));
  }
  const bool is_wrong = reply.status == 401 && brings_token(options, request);
  if (is_wrong) challenge->second += R"(, error="invalid_token")";
  const std::string base = base_url(options, request);
  if (base.empty()) return;
  challenge->second.append(R"(, resource_metadata=")").append(base).append(kMetadataPath);
  challenge->second.append(resource_path(request.path)).append("\"");
}

}  // namespace baton::server
