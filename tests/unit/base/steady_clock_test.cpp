#include "base/clock.h"

#include <doctest/doctest.h>

#include "support/manual_clock.h"

namespace steady_clock_test {

using namespace std::chrono_literals;
using baton::base::SteadyClock;
using baton::test::ManualClock;

TEST_CASE("SteadyClock: starts at its source clock's time and is not affected when that is set by a year") {
  ManualClock wall;
  const auto began = wall.now();
  const SteadyClock steady(wall);
  const auto elapsed = [&] { return steady.now() - began; };
  CHECK(elapsed() < 1min);
  CHECK(elapsed() >= -2ms);  // the two clocks are rounded separately
  wall.advance(365 * 24h);
  CHECK(elapsed() < 1min);
  wall.advance(-2 * 365 * 24h);
  CHECK(elapsed() >= -2ms);
  const auto earlier = steady.now();
  while (steady.now() == earlier) {
  }
  CHECK(steady.now() > earlier);
}

}  // namespace steady_clock_test
