#include "notify/webhook.h"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "base/base64.h"

namespace webhook_test {

using namespace std::chrono_literals;
using baton::base::Duration;
using baton::base::ErrorCode;
using baton::base::Timestamp;
using baton::notify::Backoff;
using baton::notify::judge;
using baton::notify::keys_in;
using baton::notify::Outcome;
using baton::notify::settle;
using baton::notify::signed_text;
using baton::notify::webhook_request;
using baton::notify::WebhookKey;
using baton::notify::WebhookKeys;
using baton::outbound::HttpAnswer;
using baton::store::Delivery;
using Kind = baton::store::DeliveryResult::Kind;

namespace {

const Timestamp kNow(1'700'000'000'000ms);

std::string header(const baton::outbound::HttpRequest& request, const std::string& name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "(absent)";
}

std::string authorization(std::vector<std::string> schemes) {
  Delivery delivery;
  delivery.config.schemes = std::move(schemes);
  delivery.config.credentials = "c";
  return header(webhook_request(delivery, {"t"}, {}, kNow), "Authorization");
}

Outcome judge_status(int status, const std::string& retry_after = {}) {
  HttpAnswer answer;
  answer.status = status;
  if (!retry_after.empty()) answer.headers = {{"retry-After", retry_after}};
  return judge(answer, kNow);
}

Outcome judge_error(ErrorCode code) {
  return judge(baton::base::fail(code, "why"), kNow);
}

}  // namespace

TEST_CASE("webhook_request: it has the token, the credentials and the marks of a repeat") {
  Delivery delivery;
  delivery.event = {7};
  delivery.attempts = 2;
  delivery.config.url = "https://example.com/hook";
  delivery.config.token = "token";
  delivery.config.schemes = {"Bearer"};
  delivery.config.credentials = "credentials";
  const auto request = webhook_request(delivery, {"task 1/\xc3\xa4\n"}, {"application/json", "{}"}, kNow);
  CHECK(request.method == "POST");
  CHECK(request.url == "https://example.com/hook");
  CHECK(request.content_type == "application/json");
  CHECK(request.body == "{}");
  CHECK(header(request, "X-A2A-Notification-Token") == "token");
  CHECK(header(request, "Authorization") == "Bearer credentials");
  CHECK(header(request, "X-Baton-Delivery") == "task%201%2F%C3%A4%0A/7");
  CHECK(header(request, "X-Baton-Attempt") == "3");
}

TEST_CASE("webhook_request: a key signs time, delivery and body, and is not sent") {
  Delivery delivery;
  delivery.event = {7};
  delivery.config.schemes = {"hmac-sha256"};
  delivery.config.credentials = "key";
  const auto request = webhook_request(delivery, {"t"}, {"application/json", "{}"}, kNow);
  // printf '1700000000.t/7.{}' | openssl dgst -sha256 -hmac key
  CHECK(header(request, "X-Baton-Signature") ==
        "t=1700000000,v1=f10774e7fb56e519372d06b1d0b02d8268475eab2eaff192114448bc85576144");
  for (const auto& [name, value] : request.headers) CHECK(value != "key");
  CHECK(header(request, "Authorization") == "(absent)");
}

TEST_CASE("webhook_request: each key of the config and of the server signs as Standard Webhooks") {
  Delivery delivery;
  delivery.event = {7};
  delivery.config.id = {"my-config.1"};
  delivery.config.schemes = {"HMAC-SHA256"};
  delivery.config.credentials =
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  // RFC 8037, A.1.
  const auto ed25519 = WebhookKey::read("whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=\n");
  REQUIRE(ed25519);
  const auto request =
      webhook_request(delivery, {"a.b-c"}, {"application/json", "{}"}, kNow, WebhookKeys{*ed25519});
  CHECK(header(request, "webhook-id") == "a%2Eb-c-7-my-config%2E1");
  CHECK(header(request, "webhook-timestamp") == "1700000000");
  // By Python's hmac, over "a%2Eb-c-7-my-config%2E1.1700000000.{}".
  const std::string signatures = header(request, "webhook-signature");
  CAPTURE(signatures);
  CHECK(
      signatures.starts_with("v1,POfApuKNVSkXWz4Gw5FTM9BP9TJ6BBwJh9wCynoky08= "
                             "v1,7w/WLe8ty8TNeEWlQMR3Y2jCS07Xe28ewo8FNf7QG/s= v1a,"));
  CHECK(header(request, "X-Baton-Signature").starts_with("t=1700000000,v1="));
  // Without the scheme only the server's key signs, and a later attempt has the same id.
  delivery.config.schemes = {"Bearer"};
  delivery.attempts = 3;
  const auto again =
      webhook_request(delivery, {"a.b-c"}, {"application/json", "{}"}, kNow, WebhookKeys{*ed25519});
  CHECK(header(again, "webhook-id") == header(request, "webhook-id"));
  CHECK(signatures.ends_with(" " + header(again, "webhook-signature")));
}

TEST_CASE("WebhookKey: the published example verifies, and only keys of the two kinds are read") {
  const auto hmac = WebhookKey::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  REQUIRE(hmac);
  CHECK(hmac->sign(signed_text("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", R"({"test": 2432232314})")) ==
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  CHECK(hmac->public_text().empty());
  const std::string seed = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
  const auto key = WebhookKey::read("whsk_" + seed + "=");
  REQUIRE(key);
  CHECK(key->public_text() == "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
  // With the public key behind it, as libsodium keeps it.
  const std::string both = baton::base::encode_base64(
      *baton::base::decode_base64(seed) + *baton::base::decode_base64(key->public_text().substr(5)));
  CHECK(WebhookKey::read("whsk_" + both)->sign("i.1.b") == key->sign("i.1.b"));
  const auto pem = WebhookKey::read(
      "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
      "-----END PRIVATE KEY-----\n");
  REQUIRE(pem);
  CHECK(pem->public_text() == key->public_text());
  const auto verified = baton::jose::Key::ed25519(*baton::base::decode_base64(key->public_text().substr(5)));
  CHECK(verified->verifies(baton::jose::Algorithm::eddsa, "i.1.b",
                           *baton::base::decode_base64(key->sign("i.1.b").substr(4))));
  std::string other = both;
  other[60] = other[60] == 'A' ? 'B' : 'A';
  for (const std::string& wrong :
       {std::string("whsec_"), std::string("whsec_AAAA"), "whsec_" + std::string(200, 'A'),
        std::string("whsk_AAAA"), "whsk_" + other, std::string("key"), std::string()}) {
    CAPTURE(wrong);
    CHECK_FALSE(WebhookKey::read(wrong));
  }
  CHECK(keys_in("any text")->size() == 1);
  CHECK(keys_in("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")->size() == 1);
  CHECK_FALSE(keys_in("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw word"));
  CHECK_FALSE(keys_in("whsec_short"));
  const std::string secret = " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  CHECK(keys_in(secret + secret)->size() == 2);
  CHECK_FALSE(keys_in(secret + secret + secret));
}

TEST_CASE("webhook_request: without token and credentials there is no such header") {
  const auto request = webhook_request(Delivery{}, {"t"}, {}, kNow);
  CHECK(header(request, "X-A2A-Notification-Token") == "(absent)");
  CHECK(header(request, "Authorization") == "(absent)");
  CHECK(header(request, "X-Baton-Signature") == "(absent)");
  CHECK(header(request, "webhook-id") == "(absent)");
  CHECK(header(request, "traceparent") == "(absent)");
}

TEST_CASE("webhook_request: each attempt for an event and config has its own span in the task's trace") {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-";
  std::set<std::string> all;
  for (const auto& [event, attempts, config] :
       {std::tuple(7, 0, "p"), std::tuple(7, 1, "p"), std::tuple(8, 0, "p"), std::tuple(7, 0, "q")}) {
    Delivery delivery;
    delivery.trace = trace + "00f067aa0ba902b7-01";
    delivery.event = {event};
    delivery.attempts = attempts;
    delivery.config.id = {config};
    const std::string sent = header(webhook_request(delivery, {"t"}, {}, kNow), "traceparent");
    CHECK(sent.starts_with(trace));
    CHECK(sent != delivery.trace);
    all.insert(sent);
  }
  CHECK(all.size() == 4);
}

TEST_CASE("webhook_request: the scheme is Bearer if it or no scheme is named, else the first one") {
  CHECK(authorization({"BEARER"}) == "Bearer c");
  CHECK(authorization({"Basic", "bearer"}) == "Bearer c");
  CHECK(authorization({}) == "Bearer c");
  CHECK(authorization({"Basic"}) == "Basic c");
  CHECK(authorization({"ApiKey", "Basic"}) == "ApiKey c");
}

TEST_CASE("judge: 2xx is delivered, 410 is given up, all other answers are tried again") {
  for (int status : {200, 201, 202, 204, 299}) CHECK(judge_status(status).kind == Kind::delivered);
  CHECK(judge_status(410).kind == Kind::given_up);
  for (int status : {101, 301, 302, 307, 308, 400, 401, 403, 404, 408, 425, 429, 500, 503}) {
    CAPTURE(status);
    CHECK(judge_status(status).kind == Kind::retry);
    CHECK(judge_status(status).reason.find(std::to_string(status)) != std::string::npos);
  }
}

TEST_CASE("judge: permanent errors are given up, and temporary ones are retried") {
  CHECK(judge_error(ErrorCode::permission_denied).kind == Kind::given_up);
  CHECK(judge_error(ErrorCode::invalid_argument).kind == Kind::given_up);
  CHECK(judge_error(ErrorCode::unavailable).kind == Kind::retry);
  CHECK(judge_error(ErrorCode::deadline_exceeded).kind == Kind::retry);
  CHECK(judge_error(ErrorCode::deadline_exceeded).slow);
  CHECK(judge_error(ErrorCode::permission_denied).reason == "why");
}

TEST_CASE("settle: a failed attempt is due after the pause, or later if the receiver asks for that") {
  const Backoff backoff;
  Delivery delivery;
  delivery.created_at = kNow;
  const auto due_after = [&](const Outcome& outcome) -> Duration {
    const auto result = settle(delivery, outcome, kNow, backoff, 24h, 0.5);
    CHECK(result.kind == Kind::retry);
    return result.next_due - kNow;
  };
  CHECK(due_after(judge_status(500)) == 1s);
  delivery.attempts = 2;
  CHECK(due_after(judge_status(500)) == 4s);
  CHECK(due_after(judge_status(429, "2")) == 4s);
  CHECK(due_after(judge_status(429, "60")) == 60s);
  CHECK(due_after(judge_status(503, "86400")) == 300s);
  CHECK(due_after(judge_status(503, "soon")) == 4s);
}

TEST_CASE("settle: a delivery that fails after its time limit is given up with the reason") {
  Delivery delivery;
  delivery.created_at = kNow - 24h;
  const auto result = settle(delivery, judge_status(500), kNow, Backoff{}, 24h, 0.5);
  CHECK(result.kind == Kind::given_up);
  CHECK(result.error == "answered 500");
  CHECK(settle(delivery, judge_status(200), kNow, Backoff{}, 24h, 0.5).kind == Kind::delivered);
  delivery.created_at = kNow - 24h + 1ms;
  CHECK(settle(delivery, judge_status(500), kNow, Backoff{}, 24h, 0.5).kind == Kind::retry);
}

}  // namespace webhook_test
