#include "app/signals.h"

#include <doctest/doctest.h>

#include <csignal>

#include "support/patience.h"

namespace baton::app::interrupt_test {
namespace {

TEST_CASE("Interrupt: Ctrl-C is something to wait for while one exists, and stays there to be seen") {
  const Interrupt interrupt;
  CHECK_FALSE(interrupt.pending());
  REQUIRE(pthread_kill(pthread_self(), SIGINT) == 0);
  CHECK(interrupt.wait(test::patience()));
  CHECK(interrupt.pending());
}

}  // namespace
}  // namespace baton::app::interrupt_test
