#include "store/sqlite/changes_under_way.h"

#include <doctest/doctest.h>

#include <string>

namespace changes_under_way_test {

using namespace baton;
using store::sqlite::ChangesUnderWay;

TEST_CASE("ChangesUnderWay: whoever comes while a change is under way is called at the end of the first") {
  ChangesUnderWay changes;
  std::string called;
  const auto first = [&] { called += "first "; };
  const auto second = [&] { called += "second "; };
  const auto end = [&](task::TaskKey key) {
    for (const auto& then : changes.end(key)) then();
  };
  changes.begin({1});
  changes.begin({1});
  changes.begin({2});
  CHECK(changes.after({1}, first));
  CHECK(changes.after({2}, second));
  end({1});
  CHECK(called == "first ");
  end({1});
  end({2});
  CHECK(called == "first second ");
}

TEST_CASE("ChangesUnderWay: whoever comes while there is none is told so, and never called") {
  ChangesUnderWay changes;
  const auto never = [] { FAIL("nothing was under way"); };
  CHECK_FALSE(changes.after({1}, never));
  changes.begin({1});
  CHECK_FALSE(changes.after({2}, never));
  CHECK(changes.end({1}).empty());
  CHECK_FALSE(changes.after({1}, never));
}

}  // namespace changes_under_way_test
