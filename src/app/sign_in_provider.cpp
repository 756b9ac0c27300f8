#include "app/sign_in_provider.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "base/base64.h"
#include "base/secret_mask.h"
#include "base/text.h"
#include "json/document.h"

namespace baton::app {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::chrono::hours kDocumentTime{1}, kDocumentTimeMax{24};
constexpr std::chrono::seconds kFailureTime{5}, kRetryTime{60};

// Whether the server wants a client's secret in the form rather than in a header, which is the default.
bool wants_secret_in_form(const std::string& document) {
  const auto parsed = json::Document::parse_view(document);
  if (!parsed) return false;
  bool basic = false, form = false;
  for (const json::Value method : parsed->root()["token_endpoint_auth_methods_supported"]) {
    basic = basic || method.string() == "client_secret_basic";
    form = form || method.string() == "client_secret_post";
  }
  return form && !basic;
}

base::Result<server::sign_in::Endpoint> endpoint_in(const std::string& document) {
  auto url = url_in(document, "authorization_endpoint");
  if (!url) return fail(url.error());
  const auto parsed = json::Document::parse_view(document);
  const bool names_issuer =
      parsed && parsed->root()["authorization_response_iss_parameter_supported"].boolean();
  return server::sign_in::Endpoint{std::move(*url), names_issuer};
}

}  // namespace

SignInProvider::SignInProvider(const base::Clock& steady, outbound::Proxy proxy, outbound::CallCounts& counts)
    : steady_(steady), stop_fd_(eventfd(0, EFD_CLOEXEC)), calls_(std::move(proxy), counts, stop_fd_.get()) {}

void SignInProvider::set(const SignInOptions& options) {
  known_.with([&](Known& known) {
    if (known.options.issuer != options.issuer) known = {};
    known.options = options;
  });
}

void SignInProvider::stop() {
  const std::uint64_t one = 1;
  if (write(stop_fd_.get(), &one, sizeof one) < 0)
    spdlog::error("sign-in: cannot interrupt a call; the server may take longer to stop");
}

std::optional<base::Result<SignInProvider::Known>> SignInProvider::kept() const {
  Known now = known_.with([](const Known& known) { return known; });
  if (steady_.now() >= now.until) return std::nullopt;
  if (now.failure) return fail(std::move(*now.failure));
  return now;
}

base::Result<SignInProvider::Known> SignInProvider::known() {
  if (auto now = kept()) return std::move(*now);
  const std::scoped_lock lock(fetching_);
  if (auto now = kept()) return std::move(*now);
  const std::string issuer = known_.with([](const Known& known) { return known.options.issuer; });
  auto document = calls_.describe(issuer);
  // Options that were set in between stay.
  return known_.with([&](Known& known) -> base::Result<Known> {
    if (known.options.issuer != issuer) return fail(ErrorCode::unavailable, "the issuer has changed");
    const base::Timestamp now = steady_.now();
    known.failure.reset();
    if (document) {
      known.document = std::move(*document);
      known.fetched = now;
      known.until = now + kDocumentTime;
    } else if (!known.document.empty() && now < known.fetched + kDocumentTimeMax) {
      known.until = now + kRetryTime;
    } else {
      known.failure = document.error();
      known.until = now + kFailureTime;
      return fail(document.error());
    }
    return known;
  });
}

base::Result<server::sign_in::Endpoint> SignInProvider::endpoint() {
  const auto now = known();
  if (!now) return fail(now.error());
  return endpoint_in(now->document);
}

std::optional<base::Result<server::sign_in::Endpoint>> SignInProvider::known_endpoint() {
  const auto now = kept();
  if (!now) return std::nullopt;
  if (!*now) return fail(now->error());
  return endpoint_in((*now)->document);
}

base::Result<std::string> SignInProvider::redeem(const server::sign_in::Redemption& redemption) {
  const auto now = known();
  if (!now) return fail(now.error());
  auto url = url_in(now->document, "token_endpoint");
  if (!url) return fail(url.error());
  const SignInOptions& options = now->options;
  outbound::HttpRequest request;
  request.url = std::move(*url);
  request.content_type = "application/x-www-form-urlencoded";
  const auto add = [&](std::string_view name, std::string_view value) {
    request.body.append(request.body.empty() ? "" : "&").append(name).append("=");
    request.body.append(base::percent_encoded(value));
  };
  add("grant_type", "authorization_code");
  add("code", redemption.code);
  add("redirect_uri", redemption.redirect_url);
  add("code_verifier", redemption.verifier);
  const bool in_header = !options.client_secret.empty() && !wants_secret_in_form(now->document);
  // RFC 6749, section 2.3.1: both are encoded before they are joined.
  if (in_header)
    request.headers.emplace_back(
        "Authorization", "Basic " + base::encode_base64(base::percent_encoded(options.client_id) + ":" +
                                                        base::percent_encoded(options.client_secret)));
  if (!in_header) add("client_id", options.client_id);
  if (!in_header && !options.client_secret.empty()) add("client_secret", options.client_secret);
  const auto answer = calls_.send(std::move(request), options.issuer);
  if (!answer) {
    // A good answer is not masked, because its ID token may contain one of these texts by chance.
    const base::SecretMask mask({options.client_secret, redemption.code, redemption.verifier});
    return fail(answer.error().code, mask.masked(answer.error().for_caller),
                mask.masked(answer.error().for_log));
  }
  const auto document = json::Document::parse_view(answer->body);
  std::string id_token = document ? document->root()["id_token"].str() : std::string();
  if (id_token.empty()) return fail(ErrorCode::unavailable, "its answer has no ID token");
  return id_token;
}

}  // namespace baton::app
