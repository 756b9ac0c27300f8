#include "base/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace baton::base {
namespace {

std::string text_of(double number) {
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  if (std::isnan(number)) return "NaN";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number);
  return {digits.begin(), end.ptr};
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

std::string_view name_of(MetricsText::Type type) {
  switch (type) {
    case MetricsText::Type::counter:
      return "counter";
    case MetricsText::Type::gauge:
      return "gauge";
    case MetricsText::Type::histogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace

void MetricsText::family(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  head_ = "# HELP " + name_ + " ";
  append_escaped(head_, help, false);
  head_.append("\n# TYPE ").append(name_).append(" ").append(name_of(type)).append("\n");
}

void MetricsText::value(Labels labels, std::int64_t value) {
  sample({}, labels, {}, std::to_string(value));
}

void MetricsText::value(Labels labels, double value) {
  sample({}, labels, {}, text_of(value));
}

void MetricsText::histogram(Labels labels, const Histogram::Snapshot& taken) {
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < taken.counts.size(); ++i) {
    up_to += taken.counts[i];
    const bool is_last = i == taken.bounds.size();
    sample("_bucket", labels, is_last ? "+Inf" : text_of(taken.bounds[i]), std::to_string(up_to));
  }
  sample("_sum", labels, {}, text_of(taken.sum));
  sample("_count", labels, {}, std::to_string(taken.count));
}

void MetricsText::sample(std::string_view suffix, Labels labels, std::string_view le,
                         std::string_view number) {
  text_ += std::exchange(head_, {});
  text_.append(name_).append(suffix);
  char before = '{';
  const auto label = [&](std::string_view name, std::string_view value) {
    text_ += std::exchange(before, ',');
    text_.append(name).append("=\"");
    append_escaped(text_, value, true);
    text_ += '"';
  };
  for (const auto& [name, value] : labels) label(name, value);
  if (!le.empty()) label("le", le);
  if (before == ',') text_ += '}';
  text_.append(" ").append(number).append("\n");
}

}  // namespace baton::base
