// Backoff: how long to wait before a webhook is retried.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace baton::notify {

struct Backoff {
  base::Duration first{1'000};
  double factor = 2;
  base::Duration max = std::chrono::minutes(5);  // before jitter
  double jitter = 0.2;                           // the pause varies by this share in both directions
};

// The pause after `failed` attempts have failed (at least 1). `random` is in [0, 1); 0.5 gives the middle.
base::Duration retry_pause(const Backoff& backoff, int failed, double random);

// The pause that a Retry-After header asks for, in seconds or as a date; nothing if it is neither. Never
// negative.
std::optional<base::Duration> retry_after(std::string_view header, base::Timestamp now);

}  // namespace baton::notify
