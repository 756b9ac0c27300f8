#include "outbound/backoff.h"

#include <doctest/doctest.h>

namespace backoff_test {

using baton::outbound::Backoff;
using std::chrono::milliseconds;

TEST_CASE("Backoff: pauses double up to a bound, and are added to what the server asks for") {
  Backoff backoff(milliseconds(100), milliseconds(400));
  const milliseconds long_time(60'000);
  for (const int most : {100, 200, 400, 400}) {
    const auto pause = backoff.after({milliseconds(1'000), false}, long_time);
    REQUIRE(pause.has_value());
    CHECK(pause->time >= milliseconds(1'000 + most / 2));
    CHECK(pause->time <= milliseconds(1'000 + most));
    CHECK_FALSE(pause->despite_breaker);
  }
}

TEST_CASE("Backoff: a request without time is not made, and one that was only held back is made once") {
  Backoff backoff(milliseconds(100), milliseconds(400));
  CHECK_FALSE(backoff.after({milliseconds(1'000), false}, milliseconds(1'000)).has_value());
  CHECK_FALSE(backoff.after({}, milliseconds(-5)).has_value());

  const auto held = backoff.after({milliseconds(300), true}, milliseconds(1'000));
  CHECK(held->time == milliseconds(300));
  CHECK_FALSE(held->despite_breaker);
  const auto last = backoff.after({milliseconds(300), true}, milliseconds(200));
  CHECK(last->time == milliseconds(200));
  CHECK(last->despite_breaker);
  CHECK(backoff.after({milliseconds(300), true}, milliseconds(-5))->time == milliseconds(0));
  // Being held back makes no pause longer.
  CHECK(backoff.after({}, milliseconds(1'000))->time <= milliseconds(100));
}

}  // namespace backoff_test
