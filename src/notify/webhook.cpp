#include "notify/webhook.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "base/text.h"
#include "base/trace_context.h"
#include "outbound/call_span.h"
#include "task/span_names.h"

namespace baton::notify {
namespace {

using Kind = store::DeliveryResult::Kind;

bool is_bearer(std::string_view scheme) {
  return base::same_word(scheme, "bearer");
}

// Uses Bearer if the config names it or names no scheme; otherwise the first scheme named.
std::string authorization(const task::PushConfig& config) {
  const bool bearer =
      config.schemes.empty() || std::any_of(config.schemes.begin(), config.schemes.end(), is_bearer);
  return (bearer ? "Bearer" : config.schemes.front()) + " " + config.credentials;
}

bool is_key(const task::PushConfig& config) {
  return std::any_of(config.schemes.begin(), config.schemes.end(),
                     [](std::string_view scheme) { return base::same_word(scheme, "hmac-sha256"); });
}

std::string seconds_of(base::Timestamp now) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

std::string signature(const std::string& key, const std::string& delivery, const std::string& body,
                      base::Timestamp now) {
  const std::string at = seconds_of(now);
  return "t=" + at + ",v1=" + base::hmac_sha256(key, at + '.' + delivery + '.' + body);
}

// The signed text has dots between its parts, so the id has none.
std::string webhook_id(const store::Delivery& delivery, const task::TaskId& task) {
  std::string id;
  for (const char c : base::percent_encoded(task.value + '-' + std::to_string(delivery.event.value) + '-' +
                                            delivery.config.id.value)) {
    if (c == '.') {
      id += "%2E";
    } else {
      id += c;
    }
  }
  return id;
}

void add_signatures(outbound::HttpRequest& request, const std::string& id, base::Timestamp now,
                    const WebhookKeys& of_config, const WebhookKeys& of_server) {
  if (of_config.empty() && of_server.empty()) return;
  const std::string at = seconds_of(now);
  const std::string text = signed_text(id, at, request.body);
  std::string signatures;
  for (const WebhookKeys* keys : {&of_config, &of_server}) {
    for (const WebhookKey& key : *keys) {
      if (!signatures.empty()) signatures += ' ';
      signatures += key.sign(text);
    }
  }
  request.headers.emplace_back("webhook-id", id);
  request.headers.emplace_back("webhook-timestamp", at);
  request.headers.emplace_back("webhook-signature", std::move(signatures));
}

Outcome judge_status(const outbound::HttpAnswer& answer, base::Timestamp now) {
  if (answer.status >= 200 && answer.status < 300) return {};
  Outcome outcome{Kind::retry, "answered " + std::to_string(answer.status), {}, false, {}};
  if (answer.status == 410) outcome.kind = Kind::given_up;
  if (answer.status >= 300 && answer.status < 400) outcome.reason += "; redirects are not followed";
  for (const auto& [name, value] : answer.headers) {
    if (base::same_word(name, "retry-after")) outcome.wait = retry_after(value, now);
  }
  return outcome;
}

}  // namespace

outbound::HttpRequest webhook_request(const store::Delivery& delivery, const task::TaskId& task, Body body,
                                      base::Timestamp now, const WebhookKeys& keys) {
  outbound::HttpRequest request;
  request.method = "POST";
  request.url = delivery.config.url;
  request.body = std::move(body.bytes);
  request.content_type = std::move(body.content_type);
  request.answer_max = 64 * 1024;
  request.follows_redirects = false;  // the receiver's address is the caller's to change
  // A receiver that answered 2xx has the delivery, however slow the rest of its answer is.
  request.head_suffices = true;
  if (!delivery.config.token.empty()) {
    request.headers.emplace_back("X-A2A-Notification-Token", delivery.config.token);
  }
  const std::string name = base::percent_encoded(task.value) + "/" + std::to_string(delivery.event.value);
  request.headers.emplace_back("X-Baton-Delivery", name);
  const std::string& credentials = delivery.config.credentials;
  WebhookKeys of_config;
  if (!credentials.empty() && is_key(delivery.config)) {
    request.headers.emplace_back("X-Baton-Signature", signature(credentials, name, request.body, now));
    of_config = keys_in(credentials).value_or(WebhookKeys{WebhookKey::hmac(credentials)});
  } else if (!credentials.empty()) {
    request.headers.emplace_back("Authorization", authorization(delivery.config));
  }
  add_signatures(request, webhook_id(delivery, task), now, of_config, keys);
  const std::string attempt = std::to_string(delivery.attempts + 1);
  request.headers.emplace_back("X-Baton-Attempt", attempt);
  std::string trace = base::traceparent_below(
      delivery.trace,
      {"webhook", task.value, delivery.config.id.value, std::to_string(delivery.event.value), attempt});
  if (!trace.empty()) request.headers.emplace_back("traceparent", std::move(trace));
  return request;
}

base::Result<void> check_webhook(const task::PushConfig& config, const outbound::AddressPolicy& policy) {
  const auto url = outbound::parse_url(config.url);
  if (!url) return base::fail(url.error());
  if (is_key(config) && config.credentials.empty())
    return base::fail(base::ErrorCode::invalid_argument,
                      "authentication: HMAC-SHA256 requires a key in credentials");
  if (is_key(config)) {
    const auto keys = keys_in(config.credentials);
    if (!keys)
      return base::fail(base::ErrorCode::invalid_argument,
                        "authentication: the key in credentials: " + keys.error().for_caller);
  }
  return outbound::check_target(*url, policy);
}

Outcome judge(const base::Result<outbound::HttpAnswer>& answer, base::Timestamp now) {
  if (answer) return judge_status(*answer, now);
  const base::Error& error = answer.error();
  Outcome outcome{Kind::retry, error.for_caller, {}, true, {}};
  if (error.code == base::ErrorCode::permission_denied || error.code == base::ErrorCode::invalid_argument) {
    outcome.kind = Kind::given_up;
    outcome.slow = false;
  }
  return outcome;
}

store::DeliveryResult settle(const store::Delivery& delivery, const Outcome& outcome, base::Timestamp now,
                             const Backoff& backoff, base::Duration give_up_after, double random) {
  store::DeliveryResult result{delivery.key, outcome.kind, {}, outcome.reason};
  if (outcome.kind != Kind::retry) return result;
  if (now - delivery.created_at >= give_up_after) {
    result.kind = Kind::given_up;
    return result;
  }
  const base::Duration wish = std::min(outcome.wait.value_or(base::Duration(0)), backoff.max);
  result.next_due = now + std::max(retry_pause(backoff, delivery.attempts + 1, random), wish);
  return result;
}

base::Duration retry_pause(const Backoff& backoff, int failed, double random) {
  const auto most = static_cast<double>(backoff.max.count());
  auto pause = static_cast<double>(backoff.first.count());
  for (int i = 1; i < failed && pause < most; ++i) pause *= std::max(backoff.factor, 1.0);
  pause = std::min(pause, most) * (1 + backoff.jitter * (2 * random - 1));
  return base::Duration(static_cast<base::Duration::rep>(pause));
}

std::optional<base::Duration> retry_after(std::string_view header, base::Timestamp now) {
  if (const auto seconds = base::number_in<std::int64_t>(header)) {
    constexpr std::int64_t kSecondsMax = 366LL * 24 * 3600;
    return std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, kSecondsMax));
  }
  std::tm date{};
  const std::string text(header);
  // The only date form of RFC 9110 that is still sent; the two old ones are treated as absent.
  const char* rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return {};
  const base::Timestamp at(std::chrono::seconds(timegm(&date)));
  return std::max(at - now, base::Duration(0));
}

base::Span webhook_span(const store::Delivery& delivery, const outbound::HttpRequest& request,
                        const Outcome& outcome, std::chrono::nanoseconds took) {
  namespace names = task::spans;
  base::Span span;
  for (const auto& [name, value] : request.headers) {
    if (name == "traceparent") span.trace = value;
  }
  span.parent = delivery.trace;
  span.name = "webhook";
  span.kind = base::Span::Kind::client;
  span.took = took;
  if (outcome.kind != store::DeliveryResult::Kind::delivered) {
    span.error = outcome.reason.empty() ? "failed" : outcome.reason;
  }
  span.with(names::kHttpMethod, request.method);
  outbound::add_server(span, request.url);
  if (delivery.attempts > 0) span.with(names::kHttpResends, std::int64_t{delivery.attempts});
  return span.with(names::kA2aTask, outcome.task).with(names::kEvent, delivery.event.value);
}

}  // namespace baton::notify
