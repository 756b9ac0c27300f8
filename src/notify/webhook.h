// One webhook: the request for a delivery, what its answer means, and what is to be stored about it.
#pragma once

#include <optional>
#include <string>

#include "net/http_client.h"
#include "notify/backoff.h"
#include "store/task_store.h"

namespace baton::notify {

struct Body {
  std::string content_type;
  std::string bytes;
};

// What became of one attempt. `reason` is for operators and callers: it names no secret and no address.
struct Outcome {
  store::DeliveryResult::Kind kind = store::DeliveryResult::Kind::delivered;
  std::string reason;
  std::optional<base::Duration> wait;  // the receiver asked for this pause
  bool slow = false;                   // no answer came in time
  std::string task;                    // its public id, for the log; empty if it could not be read
};

// A POST with the config's token and credentials, and the headers by which a receiver tells a repetition:
// X-Baton-Delivery (task id, percent-encoded, and event number) and X-Baton-Attempt.
net::HttpRequest webhook_request(const store::Delivery& delivery, const task::TaskId& task, Body body);

// Refuses a URL that is none and a target that is forbidden whatever its name resolves to.
base::Result<void> check_webhook(const task::PushConfig& config, const net::AddressPolicy& policy);

// 2xx is delivered; 410 and what no repetition can mend (a forbidden address, a URL or header that is none)
// is given up; all else, other client errors included (operators mend receivers), is tried again.
Outcome judge(const base::Result<net::HttpAnswer>& answer, base::Timestamp now);

// What is stored: a failed attempt is tried again after the longer of the pause and the receiver's wish,
// which counts up to the longest pause; or given up once the delivery is `give_up_after` old.
store::DeliveryResult settle(const store::Delivery& delivery, const Outcome& outcome, base::Timestamp now,
                             const Backoff& backoff, base::Duration give_up_after, double random);

}  // namespace baton::notify
