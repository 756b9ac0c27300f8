#include "json/decimal.h"

#include <doctest/doctest.h>

#include <string>

using namespace baton;
using json::Decimal;

namespace decimal_test {
namespace {

int sign_of(std::string_view one, std::string_view other) {
  const int order = json::compare(Decimal::of(one), Decimal::of(other));
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}
bool divides(std::string_view divisor, std::string_view number) {
  return json::is_multiple(Decimal::of(number), Decimal::of(divisor));
}

TEST_CASE("Decimal: numbers of any form and size are compared without rounding") {
  const char* ascending[] = {"-1e400",
                             "-9007199254740993",
                             "-9007199254740992",
                             "-1.5",
                             "-1",
                             "-1e-400",
                             "0",
                             "1e-400",
                             "0.1",
                             "0.11",
                             "1",
                             "1.0001",
                             "9007199254740992",
                             "9007199254740993",
                             "1e17",
                             "123456789012345678901",
                             "1e400",
                             "1e999999999999999999999"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      CAPTURE(ascending[i]);
      CAPTURE(ascending[j]);
      CHECK(sign_of(ascending[i], ascending[j]) == (i < j ? -1 : i > j ? 1 : 0));
    }
  }
  CHECK(sign_of("1.0", "1") == 0);
  CHECK(sign_of("100", "1e2") == 0);
  CHECK(sign_of("0.00120", "12E-4") == 0);
  CHECK(sign_of("-0", "0.0e5") == 0);
}

TEST_CASE("Decimal: whether a number is whole depends on its value, not its form") {
  for (const char* whole : {"0", "-0.0", "1", "1.0", "1e3", "1.5e1", "1e400", "0e-9"}) {
    CAPTURE(whole);
    CHECK(Decimal::of(whole).is_whole());
  }
  for (const char* other : {"0.5", "1e-1", "1.05e1", "1e-400"}) {
    CAPTURE(other);
    CHECK_FALSE(Decimal::of(other).is_whole());
  }
}

TEST_CASE("Decimal: multiples are exact even if doubles are not") {
  CHECK(divides("0.1", "0.3"));
  CHECK(divides("0.01", "19.99"));
  CHECK(divides("1e-8", "12391239123"));
  CHECK(divides("3", "-9"));
  CHECK(divides("7", "0"));
  CHECK(divides("1e308", "1e309"));
  CHECK(divides("1e308", "0"));
  CHECK_FALSE(divides("0.123456789", "1e308"));
  CHECK_FALSE(divides("1e308", "1"));
  CHECK_FALSE(divides("0.1", "0.35"));
  CHECK_FALSE(divides("3", "1e999999999"));
}

TEST_CASE("Decimal: a text of a million digits is read in one pass") {
  const Decimal number = Decimal::of(std::string(1 << 20, '7'));
  CHECK_FALSE(number.exact);
  CHECK(number.is_whole());
  CHECK(Decimal::of("0." + std::string(1 << 20, '0') + "1").digits == 1);
}

}  // namespace
}  // namespace decimal_test
