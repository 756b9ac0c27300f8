#include "store/postgres/nodes/followed_elsewhere.h"

#include <doctest/doctest.h>

namespace followed_elsewhere_test {

using namespace baton;
using std::chrono::seconds;
using store::kFollowed;
using store::postgres::FollowedElsewhere;

TEST_CASE("FollowedElsewhere: at first all tasks count as followed, then those that others report") {
  const FollowedElsewhere::Time start{seconds(1'000)};
  FollowedElsewhere followed(start);
  const std::vector<store::Grown> tasks{{{1}, {5}}, {{2}, {6}}};
  CHECK(followed.of(tasks, start + seconds(1)).size() == 2);
  const auto after = start + kFollowed;
  CHECK(followed.of(tasks, after).empty());
  followed.add({{{2}, {1}}}, after);
  const auto told = followed.of(tasks, after);
  REQUIRE(told.size() == 1);
  CHECK(told[0].task.value == 2);
  CHECK(told[0].last.value == 6);
  SUBCASE("until a task was not reported again for a while") {
    CHECK(followed.of(tasks, after + kFollowed - seconds(1)).size() == 1);
    CHECK(followed.of(tasks, after + kFollowed + seconds(1)).size() == 1);
    CHECK(followed.of(tasks, after + 2 * kFollowed + seconds(1)).empty());
  }
  SUBCASE("and no other task does") {
    CHECK(followed.of(tasks, after + 3 * kFollowed).empty());
  }
  SUBCASE("a task that is reported again stays followed") {
    for (int times = 1; times < 10; ++times) {
      followed.add({{{2}, {1}}}, after + times * kFollowed);
      CHECK(followed.of(tasks, after + times * kFollowed + kFollowed / 2).size() == 1);
    }
  }
  SUBCASE("and all tasks once a notification was missed") {
    followed.miss(after);
    CHECK(followed.of(tasks, after + seconds(1)).size() == 2);
  }
}

}  // namespace followed_elsewhere_test
