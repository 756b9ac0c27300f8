// The counts of the operator API.
#include "server/operate/rows.h"

#include <doctest/doctest.h>

#include "store/memory/memory_store.h"

namespace rows_test {

using namespace baton;
using server::operate::counted;

TEST_CASE("counted: during a full scan another one is refused, but maintained counts are returned") {
  const base::SystemClock clock;
  store::MemoryStore store(clock);
  std::atomic<bool> is_counting{false};
  const store::TaskFilter kept{.unfinished = true}, by_words{.error = "no such host"};
  CHECK(counted(store, is_counting, by_words)->exact);
  CHECK(!is_counting);
  is_counting = true;
  CHECK(counted(store, is_counting, by_words).error().code == base::ErrorCode::overloaded);
  CHECK(counted(store, is_counting, kept)->exact);
  CHECK(is_counting);
}

}  // namespace rows_test
