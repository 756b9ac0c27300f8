#include "app/sign_in_provider.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "base/base64.h"
#include "base/text.h"
#include "json/document.h"

namespace baton::app {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::chrono::hours kDocumentTime{1};

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

}  // namespace

SignInProvider::SignInProvider(const base::Clock& steady, outbound::Proxy proxy, outbound::CallCounts& counts)
    : steady_(steady), stop_fd_(eventfd(0, EFD_CLOEXEC)), calls_(std::move(proxy), counts, stop_fd_.get()) {}

void SignInProvider::set(const SignInOptions& options) {
  known_.with([&](Known& known) {
    if (known.options.issuer != options.issuer) known.document.clear();
    known.options = options;
  });
}

void SignInProvider::stop() {
  const std::uint64_t one = 1;
  if (write(stop_fd_.get(), &one, sizeof one) < 0)
    spdlog::error("sign-in: cannot interrupt a call; the server may take longer to stop");
}

base::Result<SignInProvider::Known> SignInProvider::known() {
  Known now = known_.with([](const Known& known) { return known; });
  if (!now.document.empty() && steady_.now() < now.until) return now;
  auto document = calls_.describe(now.options.issuer);
  if (!document) return fail(document.error());
  now.document = std::move(*document);
  now.until = steady_.now() + base::Duration(kDocumentTime);
  known_.with([&](Known& known) {
    if (known.options.issuer == now.options.issuer) known = now;
  });
  return now;
}

base::Result<std::string> SignInProvider::authorization_url() {
  const auto now = known();
  if (!now) return fail(now.error());
  return url_in(now->document, "authorization_endpoint");
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
  if (!answer) return fail(answer.error());
  const auto document = json::Document::parse_view(answer->body);
  std::string id_token = document ? document->root()["id_token"].str() : std::string();
  if (id_token.empty()) return fail(ErrorCode::unavailable, "its answer has no ID token");
  return id_token;
}

}  // namespace baton::app
