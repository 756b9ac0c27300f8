#include "base/id.h"

#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "base/clock.h"

namespace id_test {

using namespace baton::base;

TEST_CASE("make_uuid: gives distinct version 7 ids") {
  const std::regex shape("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) {
    const std::string id = make_uuid();
    CHECK(std::regex_match(id, shape));
    CHECK(seen.insert(id).second);
  }
}

TEST_CASE("to_rfc3339: writes UTC with milliseconds") {
  CHECK(to_rfc3339(from_ms(0)) == "1970-01-01T00:00:00.000Z");
  CHECK(to_rfc3339(from_ms(1'795'254'000'123)) == "2026-11-21T09:40:00.123Z");
  CHECK(to_rfc3339(from_ms(-1)) == "1969-12-31T23:59:59.999Z");
}

}  // namespace id_test
