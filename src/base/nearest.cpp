#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace baton::base {

// Optimal string alignment, three rows at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string nearest_name(std::string_view name, std::span<const std::string> names) {
  // No misspelt name is longer than this, and the time is quadratic in the length.
  if (name.size() > 64) return {};
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string found;
  for (const std::string& known : names) {
    const std::size_t distance = edit_distance(name, known);
    // A short name is not near just because it is short, so fewer changes than letters are needed.
    if (distance < best && distance < known.size()) {
      best = distance;
      found = known;
    }
  }
  return found;
}

}  // namespace baton::base
