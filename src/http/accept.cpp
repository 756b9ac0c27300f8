#include "http/accept.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "http/http_text.h"

namespace baton::http {
namespace {

constexpr int kFull = 1000;

// How well a range fits a type.
enum class Fit { none, any, family, exact };

struct Rating {
  int weight = 0;  // in thousandths
  Fit fit = Fit::none;
};

// Removes and returns the text before the next `separator` outside quotes.
std::string_view take_until(char separator, std::string_view& text) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != separator); ++end) {
    if (text[end] == '"') quoted = !quoted;
    if (quoted && text[end] == '\\') ++end;
  }
  end = std::min(end, text.size());
  const std::string_view taken = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

// Reads ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ) in thousandths.
std::optional<int> read_weight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int weight = (text[0] - '0') * kFull, place = kFull / 10;
  for (const char digit : text.substr(std::min<std::size_t>(text.size(), 2))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    weight += (digit - '0') * place;
    place /= 10;
  }
  if (weight > kFull) return std::nullopt;
  return weight;
}

// Returns the range and the weight of a list member; nullopt for a malformed one.
std::optional<std::pair<std::string_view, int>> read_member(std::string_view member) {
  const std::string_view range = take_until(';', member);
  const std::size_t slash = range.find('/');
  if (slash == std::string_view::npos || !is_token(range.substr(0, slash)) ||
      !is_token(range.substr(slash + 1))) {
    return std::nullopt;
  }
  int weight = kFull;
  while (!member.empty()) {
    const std::string_view parameter = take_until(';', member);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    if (!same_word(trimmed(parameter.substr(0, equals)), "q")) continue;
    const auto read = read_weight(trimmed(parameter.substr(std::min(equals + 1, parameter.size()))));
    if (!read) return std::nullopt;
    weight = *read;
  }
  return std::pair(range, weight);
}

Fit fit_of(std::string_view range, std::string_view type) {
  if (same_word(range, type)) return Fit::exact;
  if (range == "*/*") return Fit::any;
  const bool is_family = range.ends_with("/*") && type.find('/') == range.size() - 2 &&
                         same_word(range.substr(0, range.size() - 2), type.substr(0, range.size() - 2));
  return is_family ? Fit::family : Fit::none;
}

// Calls `take` with each valid member.
template <class F>
void for_each_member(const Request& request, F&& take) {
  for (const auto& [name, value] : request.headers) {
    if (!same_word(name, "Accept")) continue;
    for (std::string_view list = value; !list.empty();) {
      if (const auto member = read_member(take_until(',', list))) take(member->first, member->second);
    }
  }
}

Rating rate(const Request& request, std::string_view type) {
  Rating rating;
  bool any_member = false;
  for_each_member(request, [&](std::string_view range, int weight) {
    any_member = true;
    const Fit fit = fit_of(range, type);
    if (fit == Fit::none || fit < rating.fit) return;
    rating.weight = fit == rating.fit ? std::max(rating.weight, weight) : weight;
    rating.fit = fit;
  });
  return any_member ? rating : Rating{kFull, Fit::none};
}

}  // namespace

std::string_view preferred_type(const Request& request, std::initializer_list<std::string_view> offers) {
  std::string_view best;
  Rating best_rating;
  for (const std::string_view offer : offers) {
    const Rating rating = rate(request, offer);
    const bool named = rating.fit == Fit::exact, best_named = best_rating.fit == Fit::exact;
    const bool better = rating.weight != best_rating.weight ? rating.weight > best_rating.weight
                                                            : rating.weight > 0 && named && !best_named;
    if (!better) continue;
    best = offer;
    best_rating = rating;
  }
  return best;
}

bool names_type(const Request& request, std::string_view type) {
  const Rating rating = rate(request, type);
  return rating.fit == Fit::exact && rating.weight > 0;
}

}  // namespace baton::http
