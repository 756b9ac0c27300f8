#include "base/text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace nearest_test {

using namespace baton;

TEST_CASE("Nearest name: finds names within a typing error and ignores distant ones") {
  CHECK(base::edit_distance("port", "port") == 0);
  CHECK(base::edit_distance("prot", "port") == 1);
  CHECK(base::edit_distance("", "abc") == 3);
  CHECK(base::edit_distance("kitten", "sitting") == 3);
  const std::vector<std::string> names{"host", "port", "db"};
  CHECK(base::nearest_name("pport", names) == "port");
  CHECK(base::nearest_name("hsot", names) == "host");
  CHECK(base::nearest_name("xy", names).empty());
  CHECK(base::nearest_name("completely-different", names).empty());
  CHECK(base::nearest_name("x", std::vector<std::string>{"mode", "io"}).empty());
  CHECK(base::nearest_name("", names).empty());
  CHECK(base::nearest_name(std::string(100'000, 'p'), names).empty());
}

}  // namespace nearest_test
