#include "server/mcp/list_changes.h"

#include <doctest/doctest.h>

namespace baton::server::mcp::list_changes_test {

TEST_CASE("ListChanges: each change is told to those that are held, and one may leave while it is told") {
  const ListChanges changes;
  int first = 0, second = 0;
  ListChanges::Hold one = changes.add([&] {
    ++first;
    one.reset();
  });
  const auto two = ListChanges(changes).add([&] { ++second; });
  changes.tell();
  changes.tell();
  CHECK(first == 1);
  CHECK(second == 2);
}

}  // namespace baton::server::mcp::list_changes_test
