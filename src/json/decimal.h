// Decimal: a number of a JSON text, compared and divided without rounding.
//
// Pure. The cost is linear in the text's length.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton::json {

// digits * 10^exponent, without trailing zeros in `digits`; zero is all zeros.
struct Decimal {
  bool negative = false;
  bool exact = true;          // false: the number has more than 18 digits, and `digits` only the first 18
  std::uint64_t digits = 0;   // below 10^18
  std::int64_t exponent = 0;  // within about 2 * 10^9 of 0, even if the text's exponent is larger

  // `number` must be a JSON number.
  static Decimal of(std::string_view number);

  bool is_whole() const { return digits == 0 || exponent >= 0; }
};

// Returns a negative number, zero or a positive number if `one` is less than, equal to or greater than
// `other`. If their first 18 digits agree, two numbers may differ in `exact` only.
int compare(const Decimal& one, const Decimal& other);

// Whether `number` is a multiple of `divisor`. Both must be exact, and `divisor` must not be zero.
bool is_multiple(const Decimal& number, const Decimal& divisor);

}  // namespace baton::json
