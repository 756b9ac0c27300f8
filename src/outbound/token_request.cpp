#include "outbound/token_request.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/base64.h"
#include "base/id.h"
#include "base/text.h"
#include "jose/jws.h"
#include "jose/signing_key.h"
#include "json/writer.h"

namespace baton::outbound {
namespace {

constexpr std::chrono::seconds kAssertionLife{120};
constexpr std::string_view kAccessToken = "urn:ietf:params:oauth:token-type:access_token";
constexpr std::string_view kJwt = "urn:ietf:params:oauth:token-type:jwt";
constexpr std::string_view kJwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

class Form {
 public:
  // Leaves out empty values.
  void add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (!text_.empty()) text_ += '&';
    text_.append(name).append("=").append(base::percent_encoded(value));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string_view grant_of(Server::Exchange exchange) {
  if (exchange == Server::Exchange::token_exchange) return "urn:ietf:params:oauth:grant-type:token-exchange";
  return exchange == Server::Exchange::on_behalf_of ? kJwtBearer : "client_credentials";
}

std::int64_t seconds_of(base::Timestamp time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

base::Result<std::string> client_assertion(const Server& server, std::string_view private_key,
                                           base::Timestamp now) {
  const auto key = jose::read_signing_key(private_key);
  if (!key) return base::fail(key.error());
  std::string header, claims;
  json::Writer of_header(header);
  of_header.object([&] {
    of_header.member("typ", "JWT").member("kid", server.key_id.empty() ? key->kid : server.key_id);
  });
  json::Writer out(claims);
  out.object([&] {
    out.member("iss", server.client_id).member("sub", server.client_id).member("aud", server.token_url);
    out.member("jti", base::make_uuid()).member("iat", seconds_of(now));
    out.member("exp", seconds_of(now + kAssertionLife));
  });
  const std::string_view members = std::string_view(header).substr(1, header.size() - 2);
  return jose::sign_jws(key->key, key->algorithm, members, claims);
}

base::Result<TokenRequest> token_request(const Server& server, const std::string& secret,
                                         const std::string& subject, base::Timestamp now) {
  const bool has_key = !server.private_key_file.empty();
  TokenRequest request;
  Form form;
  form.add("grant_type", grant_of(server.exchange));
  if (server.exchange == Server::Exchange::token_exchange) {
    form.add("subject_token", subject);
    form.add("subject_token_type", kAccessToken);
    form.add("requested_token_type", kAccessToken);
  } else if (server.exchange == Server::Exchange::on_behalf_of) {
    form.add("assertion", subject);
    form.add("requested_token_use", "on_behalf_of");
  }
  if (server.names_actor) {
    auto actor = client_assertion(server, secret, now);
    if (!actor) return base::fail(std::move(actor.error()));
    form.add("actor_token", *actor);
    form.add("actor_token_type", kJwt);
    request.secrets.push_back(std::move(*actor));
  }
  form.add("scope", server.scope);
  form.add("audience", server.audience);
  form.add("resource", server.resource);
  if (!subject.empty()) request.secrets.push_back(subject);
  if (has_key) {
    auto assertion = client_assertion(server, secret, now);
    if (!assertion) return base::fail(std::move(assertion.error()));
    form.add("client_id", server.client_id);
    form.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    form.add("client_assertion", *assertion);
    request.secrets.push_back(std::move(*assertion));
  } else if (server.secret_in_body) {
    form.add("client_id", server.client_id);
    form.add("client_secret", secret);
  } else {
    const std::string pair = base::percent_encoded(server.client_id) + ":" + base::percent_encoded(secret);
    const std::string encoded = base::encode_base64(pair);
    request.authorization = "Basic " + encoded;
    request.secrets.push_back(encoded);
  }
  if (!has_key) request.secrets.push_back(secret);
  request.body = form.take();
  return request;
}

bool is_about_the_caller(std::string_view error) {
  // RFC 8693 has invalid_request for a token that is not accepted.
  constexpr std::array<std::string_view, 6> kErrors{"invalid_grant",    "invalid_request",
                                                    "invalid_token",    "interaction_required",
                                                    "consent_required", "login_required"};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

}  // namespace baton::outbound
