#include "store/sqlite/changes_under_way.h"

#include <doctest/doctest.h>

#include <string>

using namespace baton;
using store::sqlite::ChangesUnderWay;

TEST_CASE("ChangesUnderWay: whoever comes while a change is under way is called at the end of the first") {
  ChangesUnderWay changes;
  std::string called;
  std::function<void()> first = [&] { called += "first "; };
  std::function<void()> second = [&] { called += "second "; };
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

TEST_CASE("ChangesUnderWay: whoever comes while there is none keeps what was to be called") {
  ChangesUnderWay changes;
  int calls = 0;
  std::function<void()> then = [&] { ++calls; };
  CHECK_FALSE(changes.after({1}, then));
  changes.begin({1});
  CHECK_FALSE(changes.after({2}, then));
  CHECK(changes.end({1}).empty());
  CHECK_FALSE(changes.after({1}, then));
  REQUIRE(then);
  then();
  CHECK(calls == 1);
}
