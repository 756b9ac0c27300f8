// Webhook: builds the request for a delivery, judges the answer, and decides the result to store.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/span.h"
#include "notify/webhook_key.h"
#include "outbound/http_client.h"
#include "store/task_store.h"

namespace baton::notify {

// Backoff: the pauses between attempts.
struct Backoff {
  base::Duration first{1'000};
  double factor = 2;
  base::Duration max = std::chrono::minutes(5);  // before jitter
  double jitter = 0.2;                           // the pause varies by this share in both directions
};

// Returns the pause after `failed` failed attempts (at least 1). `random` is in [0, 1); 0.5 gives the middle.
base::Duration retry_pause(const Backoff& backoff, int failed, double random);

// Returns the pause that a Retry-After header asks for, in seconds or as a date; nullopt if it has neither
// form. Never negative.
std::optional<base::Duration> retry_after(std::string_view header, base::Timestamp now);

struct Body {
  std::string content_type;
  std::string bytes;
};

// The outcome of one attempt. `reason` is shown to operators and callers: no secrets, no addresses.
struct Outcome {
  store::DeliveryResult::Kind kind = store::DeliveryResult::Kind::delivered;
  std::string reason;
  std::optional<base::Duration> wait;  // the receiver asked for this pause
  bool slow = false;                   // the attempt timed out
  std::string task;                    // its public id, for the log; empty if it could not be read
};

// Returns a POST with the config's token and credentials. Receivers recognise a repetition by the headers
// X-Baton-Delivery (task id, percent-encoded, and event number) and X-Baton-Attempt. If the task has a trace,
// `traceparent` has a span of this attempt. If the config's scheme is HMAC-SHA256, its credentials are a key
// that is not sent, and X-Baton-Signature is `t=<time>,v1=<code>`: the time in seconds since 1970, and the
// HMAC-SHA256 of time, X-Baton-Delivery and body with a dot between them.
//
// The key of such a config (keys_in) and each of `keys` also sign as Standard Webhooks. webhook-id is
// `<task id>-<event number>-<config id>`, percent-encoded with its dots, and the same in each attempt.
// webhook-timestamp is the time in seconds, and webhook-signature has one signature for each key. Without a
// key there are no such headers.
outbound::HttpRequest webhook_request(const store::Delivery& delivery, const task::TaskId& task, Body body,
                                      base::Timestamp now, const WebhookKeys& keys = {});

// Fails for an invalid URL, a signature without a key or with an invalid one, and a target that is forbidden
// no matter what its name resolves to.
base::Result<void> check_webhook(const task::PushConfig& config, const outbound::AddressPolicy& policy);

// Judges an answer. 2xx is delivered. 410 and errors that a retry cannot fix (a forbidden address, an invalid
// URL or header) are given up. All other failures are retried, including other client errors, because
// operators fix receivers.
Outcome judge(const base::Result<outbound::HttpAnswer>& answer, base::Timestamp now);

// Returns the result to store. A failed attempt is retried after the longer of the backoff and the pause that
// the receiver asks for (at most `backoff.max`), or given up once the delivery is `give_up_after` old.
store::DeliveryResult settle(const store::Delivery& delivery, const Outcome& outcome, base::Timestamp now,
                             const Backoff& backoff, base::Duration give_up_after, double random);

// Returns the span of the attempt that made this request; the request's `traceparent` names the same span.
base::Span webhook_span(const store::Delivery& delivery, const outbound::HttpRequest& request,
                        const Outcome& outcome, std::chrono::nanoseconds took);

}  // namespace baton::notify
