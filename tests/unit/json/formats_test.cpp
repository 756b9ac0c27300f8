#include "json/formats.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace baton;
using json::Format;

namespace formats_test {
namespace {

struct Row {
  const char* format;
  std::vector<std::string> good, bad;
};

TEST_CASE("Formats: each accepts exactly what it describes") {
  const Row rows[] = {
      {"date", {"2026-01-31", "2024-02-29"}, {"2026-02-29", "2026-13-01", "2026-1-1", "2026-01-31x", ""}},
      {"time", {"10:30", "10:30:00Z", "10:30:60.5+01:00"}, {"24:00", "10", "10:30:", "10:30:00.Z", "x"}},
      {"date-time",
       {"2026-01-31T10:30:00Z", "2026-01-31t10:30:00.123-23:59"},
       {"2026-01-31", "2026-01-31T10:30:00", "2026-01-31T10:30Z", "2026-01-31T10:30:00+24:00"}},
      {"duration", {"P1D", "P1Y2M3DT4H5M6S", "PT0.5S", "P2W"}, {"P", "PT", "P1S", "1D", "P1D1Y", "PT1.S"}},
      {"email", {"a@b.example", "a+b@c"}, {"a", "@b", "a@", "a b@c", "a@b..c", "a@b@c"}},
      {"uri",
       {"https://example.com/a?b=%20#c", "urn:a:b", "mailto:a@b"},
       {"example.com", "//a", "http://a b", "a:%4"}},
      {"uuid",
       {"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
       {"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", ""}},
      {"hostname", {"a", "a-b.example"}, {"-a", "a-", "a..b", "a_b", "", std::string(64, 'a')}},
      {"ipv4", {"192.0.2.1"}, {"192.0.2", "192.0.2.256", "::1"}},
      {"ipv6", {"::1", "2001:db8::1"}, {"192.0.2.1", ":::", "g::"}},
  };
  for (const Row& row : rows) {
    const Format format = json::format_named(row.format);
    REQUIRE(format != Format::none);
    CHECK(json::has_format(format, json::example_of(format)));
    for (const std::string& text : row.good)
      CHECK_MESSAGE(json::has_format(format, text), row.format, " ", text);
    for (const std::string& text : row.bad)
      CHECK_MESSAGE(!json::has_format(format, text), row.format, " ", text);
  }
  CHECK(json::format_named("password") == Format::none);
  CHECK(json::has_format(Format::none, "anything"));
}

}  // namespace
}  // namespace formats_test
