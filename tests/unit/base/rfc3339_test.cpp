#include "base/clock.h"

#include <doctest/doctest.h>

namespace rfc3339_test {

using namespace baton;

namespace {

std::string normal(std::string_view text) {
  const auto at = base::parse_rfc3339(text);
  return at ? base::to_rfc3339(*at) : "";
}

}  // namespace

TEST_CASE("RFC 3339: every offset and fraction is read") {
  CHECK(normal("2026-01-31T10:00:00Z") == "2026-01-31T10:00:00.000Z");
  CHECK(normal("2026-01-31t10:00:00.5z") == "2026-01-31T10:00:00.500Z");
  CHECK(normal("2026-01-31T10:00:00.123456789+02:30") == "2026-01-31T07:30:00.124Z");
  CHECK(normal("2026-01-31T23:30:00-01:00") == "2026-02-01T00:30:00.000Z");
  CHECK(normal("2024-02-29T00:00:00.1230000Z") == "2024-02-29T00:00:00.123Z");
  CHECK(normal("1969-12-31T23:59:59.999Z") == "1969-12-31T23:59:59.999Z");
  CHECK(normal("2026-01-31T10:00:00 02:00") == "2026-01-31T08:00:00.000Z");
}

TEST_CASE("parse_rfc3339: a timestamp without a zone is UTC") {
  CHECK(normal("2025-05-01T10:00:00.123456") == "2025-05-01T10:00:00.124Z");
}

TEST_CASE("RFC 3339: other texts are refused") {
  for (const char* text :
       {"", "2026", "2026-01-31", "2026-02-30T10:00:00Z", "2026-13-01T10:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T10:60:00Z", "2026-01-31T10:00:60Z", "2026-01-31T10:00:00.Z", "2026-01-31T10:00:00+2:00",
        "2026-01-31T10:00:00+24:00", "2026-01-31T10:00:00Zx", "26-01-31T10:00:00Z", "yesterday"}) {
    CAPTURE(text);
    CHECK_FALSE(base::parse_rfc3339(text));
  }
}

}  // namespace rfc3339_test
