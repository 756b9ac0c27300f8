#include "engine/decide/caller_usage.h"

#include <doctest/doctest.h>

#include "store/memory/memory_store.h"
#include "support/manual_clock.h"

namespace caller_usage_test {

using namespace baton;

TEST_CASE("CallerUsage: a task added before a count and stored during it is counted") {
  const test::ManualClock clock;
  store::MemoryStore store(clock);
  engine::CallerUsage usage(1, 0, true);
  usage.add({"ann"}, 1, 10);
  const auto counted = usage.count(store, [&] {
    task::Change change;
    change.create.emplace();
    change.create->id = {"t1"};
    change.create->agent = {"echo"};
    change.create->caller = {"ann"};
    change.create->context = {"c1"};
    change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock.now()}, {}});
    store::TaskRow row;
    REQUIRE(store.apply(change, row));
    REQUIRE(store.commit());
    REQUIRE(store.flush());
  });
  REQUIRE(counted);
  CHECK_FALSE(usage.admit({"ann"}, true));
  CHECK(usage.admit({"bob"}, true));
}

}  // namespace caller_usage_test
