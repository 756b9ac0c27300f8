#include "app/issuer_calls.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/loggable.h"
#include "jose/jwk.h"
#include "json/document.h"
#include "outbound/refusal.h"

namespace baton::app {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::chrono::milliseconds kCallTime{5'000};

// Where an issuer may describe itself, in the order in which we look.
std::array<std::string, 2> discovery_urls(const std::string& issuer) {
  std::string plain = issuer;
  while (plain.ends_with('/')) plain.pop_back();
  // RFC 8414 inserts the well-known path before the issuer's own.
  const std::size_t path = std::min(plain.find('/', plain.find("//") + 2), plain.size());
  return {plain + "/.well-known/openid-configuration",
          plain.substr(0, path) + "/.well-known/oauth-authorization-server" + plain.substr(path)};
}

}  // namespace

base::Result<std::string> IssuerCalls::describe(const std::string& issuer) const {
  // The reason is that of the document that came closest.
  base::Error unread, wrong;
  for (const std::string& url : discovery_urls(issuer)) {
    auto found = get(url, issuer);
    if (!found) {
      if (unread.for_caller.empty()) unread = found.error();
      continue;
    }
    // A server without OpenID Connect may answer the path of that with a page, like any unknown path.
    const auto document = json::Document::parse_view(found->body);
    const std::string named = document ? document->root()["issuer"].str() : std::string();
    if (document && named == issuer) return std::move(found->body);
    if (document)
      wrong = {ErrorCode::invalid_argument,
               named.empty() ? "its discovery document names no issuer"
                             : "its discovery document names another issuer: " + base::loggable_word(named),
               {}};
    else if (wrong.for_caller.empty())
      wrong = {ErrorCode::invalid_argument, "its discovery document is not JSON", {}};
  }
  return fail(wrong.for_caller.empty() ? std::move(unread) : std::move(wrong));
}

base::Result<outbound::HttpAnswer> IssuerCalls::get(const std::string& url, const std::string& issuer) const {
  outbound::HttpRequest request;
  request.method = "GET";
  request.url = url;
  return send(std::move(request), issuer);
}

base::Result<outbound::HttpAnswer> IssuerCalls::send(outbound::HttpRequest request,
                                                     const std::string& issuer) const {
  // Kubernetes serves its keys only as the second of these types.
  request.headers.emplace_back("Accept", "application/json, application/jwk-set+json;q=0.9");
  request.total_timeout = kCallTime;
  request.answer_max = jose::kJwkSetBytesMax + 1;
  if (outbound::origin_of(std::string_view(request.url)) == outbound::origin_of(std::string_view(issuer)))
    request.policy = outbound::AddressPolicy::any();
  request.proxy = proxy_;
  request.follows_redirects = false;
  request.counts = &counts_;
  request.stop_fd = stop_fd_;
  auto answer = outbound::http_request(request);
  if (!answer) return fail(answer.error());
  if (answer->status != 200)
    return fail(ErrorCode::unavailable,
                "it answers with " + outbound::refusal_text(*answer, {.is_about_keys = true}));
  return answer;
}

base::Result<std::string> url_in(std::string_view document, const char* name) {
  const auto parsed = json::Document::parse_view(document);
  std::string url = parsed ? parsed->root()[name].str() : std::string();
  const auto parts = outbound::parse_url(url);
  if (parts && (parts->scheme == "https" || outbound::is_this_machine(parts->host))) return url;
  return fail(ErrorCode::invalid_argument, "its discovery document has no https URL as " + std::string(name));
}

}  // namespace baton::app
