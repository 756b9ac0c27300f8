#include "json/decimal.h"

#include <algorithm>

#include "base/text.h"

namespace baton::json {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kDigitsMax = 18;
constexpr std::int64_t kExponentMax = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads the exponent after 'e', clamped to kExponentMax.
std::int64_t exponent_in(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() > 9) return negative ? -kExponentMax : kExponentMax;
  const std::int64_t number = text.empty() ? 0 : base::number_in<std::int64_t>(text).value_or(kExponentMax);
  return negative ? -number : number;
}

int digit_count(std::uint64_t number) {
  int count = 0;
  for (; number > 0; number /= 10) ++count;
  return count;
}

std::uint64_t power_of_ten(std::int64_t exponent) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

// 10^exponent modulo `modulus`.
std::uint64_t power_of_ten(std::int64_t exponent, std::uint64_t modulus) {
  Wide result = 1 % modulus, base = 10 % modulus;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * base % modulus;
    base = base * base % modulus;
  }
  return static_cast<std::uint64_t>(result);
}

}  // namespace

Decimal Decimal::of(std::string_view number) {
  Decimal decimal;
  decimal.negative = number.starts_with('-');
  if (decimal.negative) number.remove_prefix(1);
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::int64_t shift = mark < number.size() ? exponent_in(number.substr(mark + 1)) : 0;
  const std::string_view mantissa = number.substr(0, mark);
  int kept = 0;
  std::int64_t zeros = 0;  // zeros since the last other digit
  std::int64_t last = 0;   // the place of the last kept digit: 10^last
  std::int64_t place = 0;  // the place of the digit being read
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  place = static_cast<std::int64_t>(point);
  for (const char c : mantissa) {
    if (!is_digit(c)) continue;
    --place;
    if (c == '0') {
      if (kept > 0) ++zeros;
      continue;
    }
    const std::int64_t more = kept > 0 ? zeros + 1 : 1;
    if (kept + more > kDigitsMax) {
      decimal.exact = false;
      break;
    }
    decimal.digits = decimal.digits * power_of_ten(more) + static_cast<std::uint64_t>(c - '0');
    kept += static_cast<int>(more);
    zeros = 0;
    last = place;
  }
  if (decimal.digits == 0) return {};
  decimal.exponent = last + shift;
  return decimal;
}

int compare(const Decimal& one, const Decimal& other) {
  if (one.digits == 0 || other.digits == 0 || one.negative != other.negative) {
    const auto sign = [](const Decimal& number) { return number.digits == 0 ? 0 : number.negative ? -1 : 1; };
    return sign(one) - sign(other);
  }
  const int larger = one.negative ? -1 : 1;  // the result if `one` has the larger magnitude
  const int one_count = digit_count(one.digits), other_count = digit_count(other.digits);
  const std::int64_t one_size = one_count + one.exponent, other_size = other_count + other.exponent;
  if (one_size != other_size) return one_size > other_size ? larger : -larger;
  const std::uint64_t one_aligned = one.digits * power_of_ten(kDigitsMax - one_count);
  const std::uint64_t other_aligned = other.digits * power_of_ten(kDigitsMax - other_count);
  if (one_aligned != other_aligned) return one_aligned > other_aligned ? larger : -larger;
  if (one.exact == other.exact) return 0;
  return one.exact ? -larger : larger;
}

bool is_multiple(const Decimal& number, const Decimal& divisor) {
  if (number.digits == 0) return true;
  if (divisor.digits == 0) return false;
  const std::int64_t shift = number.exponent - divisor.exponent;
  if (shift >= 0) {
    const Wide rest = Wide{number.digits % divisor.digits} * power_of_ten(shift, divisor.digits);
    return rest % divisor.digits == 0;
  }
  // `number.digits` has at most 18 digits, so no larger power can divide it.
  if (-shift > kDigitsMax) return false;
  return Wide{number.digits} % (Wide{divisor.digits} * power_of_ten(-shift)) == 0;
}

}  // namespace baton::json
