#include "notify/webhook.h"

#include <doctest/doctest.h>

namespace backoff_test {

using namespace std::chrono_literals;
using baton::base::Timestamp;
using baton::notify::Backoff;
using baton::notify::retry_after;
using baton::notify::retry_pause;

TEST_CASE("retry_pause: doubles from one second up to five minutes") {
  const Backoff backoff;
  CHECK(retry_pause(backoff, 1, 0.5) == 1s);
  CHECK(retry_pause(backoff, 2, 0.5) == 2s);
  CHECK(retry_pause(backoff, 3, 0.5) == 4s);
  CHECK(retry_pause(backoff, 9, 0.5) == 256s);
  CHECK(retry_pause(backoff, 10, 0.5) == 300s);
  CHECK(retry_pause(backoff, 1'000'000'000, 0.5) == 300s);
}

TEST_CASE("retry_pause: jitter spreads a pause by a fifth to both sides") {
  const Backoff backoff;
  CHECK(retry_pause(backoff, 1, 0) == 800ms);
  CHECK(retry_pause(backoff, 1, 0.25) == 900ms);
  CHECK(retry_pause(backoff, 1, 0.999999) == 1199ms);
  CHECK(retry_pause(backoff, 50, 0) == 240s);
}

TEST_CASE("retry_pause: a factor of one keeps the pause, and the computation ends") {
  CHECK(retry_pause(Backoff{100ms, 1, 5min, 0}, 2'000'000, 0.9) == 100ms);
  CHECK(retry_pause(Backoff{100ms, 0, 5min, 0}, 3, 0.9) == 100ms);
}

TEST_CASE("retry_after: seconds and dates are read, anything else is absent") {
  const Timestamp now(1'700'000'000'000ms);  // Tue, 14 Nov 2023 22:13:20 GMT
  CHECK(retry_after("0", now) == 0s);
  CHECK(retry_after("120", now) == 120s);
  CHECK(retry_after("-5", now) == 0s);
  CHECK(retry_after("9000000000000000000", now) == 366 * 24h);
  CHECK(retry_after("Tue, 14 Nov 2023 22:14:20 GMT", now) == 60s);
  CHECK(retry_after("Tue, 14 Nov 2023 22:13:00 GMT", now) == 0s);
  CHECK_FALSE(retry_after("", now).has_value());
  CHECK_FALSE(retry_after("soon", now).has_value());
  CHECK_FALSE(retry_after("12 s", now).has_value());
  CHECK_FALSE(retry_after("Tue, 14 Nov 2023 22:14:20 GMT+1", now).has_value());
}

}  // namespace backoff_test
