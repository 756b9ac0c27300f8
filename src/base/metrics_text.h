// MetricsText: writes metrics in the text format that Prometheus reads (version 0.0.4).
//
// Call `family`, which writes HELP and TYPE, before the family's values. A family without values is left out.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.h"

namespace baton::base {

class MetricsText {
 public:
  enum class Type { counter, gauge, histogram };
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Begins a family; once for each name. `name` follows Prometheus' conventions: with the unit, and `_total`
  // for a counter.
  void family(std::string_view name, Type type, std::string_view help);

  // Writes a value of the last family.
  void value(Labels labels, std::int64_t value);
  void value(Labels labels, double value);
  void histogram(Labels labels, const Histogram::Snapshot& taken);

  // Writes a family that has one value and no labels.
  template <class Number>
  void counter(std::string_view name, std::string_view help, Number number) {
    family(name, Type::counter, help);
    value({}, number);
  }
  template <class Number>
  void gauge(std::string_view name, std::string_view help, Number number) {
    family(name, Type::gauge, help);
    value({}, number);
  }

  const std::string& text() const { return text_; }

 private:
  void sample(std::string_view suffix, Labels labels, std::string_view le, std::string_view number);

  std::string text_;
  std::string name_;
  std::string head_;  // HELP and TYPE of the last family until its first value
};

}  // namespace baton::base
