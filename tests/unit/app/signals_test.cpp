#include "app/signals.h"

#include <doctest/doctest.h>

#include <csignal>

#include "support/patience.h"

namespace baton::app::interrupt_test {
namespace {

TEST_CASE("Interrupt: while one exists Ctrl-C can be waited for, and stays pending") {
  const Interrupt interrupt;
  CHECK_FALSE(interrupt.pending());
  REQUIRE(pthread_kill(pthread_self(), SIGINT) == 0);
  CHECK(interrupt.wait(test::patience()));
  CHECK(interrupt.pending());
}

}  // namespace
}  // namespace baton::app::interrupt_test
