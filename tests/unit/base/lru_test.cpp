#include "base/lru.h"

#include <doctest/doctest.h>

#include <string>

namespace lru_test {

using baton::base::Lru;

TEST_CASE("Lru: when full, the least recently used entry is dropped") {
  Lru<int, std::string> lru(3);
  lru.put(1, "one");
  lru.put(2, "two");
  lru.put(3, "three");
  REQUIRE(lru.find(1) != nullptr);
  lru.put(4, "four");
  CHECK(lru.size() == 3);
  CHECK(lru.find(2) == nullptr);
  CHECK(*lru.find(1) == "one");
  CHECK(*lru.find(3) == "three");
  CHECK(*lru.find(4) == "four");
}

TEST_CASE("Lru: a found entry can be changed, a cleared one is gone") {
  Lru<int, std::string> lru(2);
  lru.put(1, "one");
  *lru.find(1) = "changed";
  CHECK(*lru.find(1) == "changed");
  lru.clear();
  CHECK(lru.find(1) == nullptr);
  CHECK(lru.put(1, "again") == "again");
}

}  // namespace lru_test
