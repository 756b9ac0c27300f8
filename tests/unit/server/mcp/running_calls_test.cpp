#include "server/mcp/running_calls.h"

#include <doctest/doctest.h>

namespace baton::server::mcp::running_calls_test {

TEST_CASE("RunningCalls: a call is canceled by its session and id while it is held") {
  const RunningCalls calls;
  int canceled = 0;
  const auto count = [&] { ++canceled; };
  auto hold = calls.add("s", "1", count);
  calls.cancel("other", "1");
  calls.cancel("s", "\"1\"");
  CHECK(canceled == 0);
  calls.cancel("s", "1");
  CHECK(canceled == 1);
  hold.reset();
  calls.cancel("s", "1");
  CHECK(canceled == 1);
}

TEST_CASE("RunningCalls: the end of a call does not remove a later one with the same id") {
  const RunningCalls calls;
  int first = 0, second = 0;
  auto one = calls.add("s", "1", [&] { ++first; });
  const auto two = calls.add("s", "1", [&] { ++second; });
  one.reset();
  calls.cancel("s", "1");
  CHECK(first == 0);
  CHECK(second == 1);
}

}  // namespace baton::server::mcp::running_calls_test
