// Reads a setting's value into a Config, from text (flags, environment) or JSON (the file).
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "app/settings.h"
#include "base/text.h"

namespace baton::app {
namespace {

// A value whose range is not checked yet.
using Plain = std::variant<bool, double, std::string, std::vector<std::string>>;
using Problem = std::optional<std::string>;

struct Unit {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kUnits{Unit{"KiB", std::size_t{1} << 10}, Unit{"MiB", std::size_t{1} << 20},
                            Unit{"GiB", std::size_t{1} << 30}};

std::optional<double> parse_number(std::string_view text) {
  const auto number = base::number_in<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> parse_size(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = parse_number(text.substr(0, text.size() - unit.name.size()));
    if (!number) return std::nullopt;
    return *number * static_cast<double>(unit.bytes);
  }
  return parse_number(text);
}

std::optional<bool> parse_bool(std::string_view text) {
  constexpr std::array<std::string_view, 4> yes{"true", "yes", "on", "1"}, no{"false", "no", "off", "0"};
  if (std::ranges::find(yes, text) != yes.end()) return true;
  if (std::ranges::find(no, text) != no.end()) return false;
  return std::nullopt;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return items;
}

std::string number_text(double number) {
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
  return std::string(digits.data(), end);
}

std::string size_text(std::size_t bytes) {
  for (auto unit = kUnits.rbegin(); unit != kUnits.rend(); ++unit) {
    if (bytes >= unit->bytes && bytes % unit->bytes == 0) {
      return std::to_string(bytes / unit->bytes) + std::string(unit->name);
    }
  }
  return std::to_string(bytes);
}

double seconds(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

Problem out_of_range(const Setting& setting, std::string_view kind) {
  const bool bytes = kind == "a size";
  const auto show = [&](double bound) {
    return bytes ? size_text(static_cast<std::size_t>(bound)) : number_text(bound);
  };
  return "must be " + std::string(kind) + " between " + show(setting.min) + " and " + show(setting.max);
}

Problem wrong_choice(const Setting& setting) {
  std::string what = "must be one of ";
  for (const std::string_view choice : setting.choices) {
    if (!what.ends_with(' ')) what += ", ";
    what += choice;
  }
  return what;
}

bool in_range(const Setting& setting, double number) {
  return number >= setting.min && number <= setting.max;
}

// One overload for each type a setting may have.
struct Assign {
  const Setting& setting;
  const Plain& plain;

  Problem operator()(int& to) const {
    const double* number = std::get_if<double>(&plain);
    if (!number || std::trunc(*number) != *number || !in_range(setting, *number)) {
      return out_of_range(setting, "a whole number");
    }
    to = static_cast<int>(*number);
    return std::nullopt;
  }
  Problem operator()(double& to) const {
    const double* number = std::get_if<double>(&plain);
    if (!number || !in_range(setting, *number)) return out_of_range(setting, "a number");
    to = *number;
    return std::nullopt;
  }
  Problem operator()(std::size_t& to) const {
    const double* number = std::get_if<double>(&plain);
    if (!number || std::trunc(*number) != *number || !in_range(setting, *number)) {
      return out_of_range(setting, setting.counts ? "a whole number" : "a size");
    }
    to = static_cast<std::size_t>(*number);
    return std::nullopt;
  }
  Problem operator()(std::chrono::milliseconds& to) const {
    const double* number = std::get_if<double>(&plain);
    if (!number || !in_range(setting, *number)) return out_of_range(setting, "a number of seconds");
    to = std::chrono::milliseconds(std::llround(*number * 1000));
    return std::nullopt;
  }
  Problem operator()(std::optional<bool>& to) const {
    const bool* truth = std::get_if<bool>(&plain);
    if (!truth) return "must be true or false";
    to = *truth;
    return std::nullopt;
  }
  Problem operator()(bool& to) const {
    std::optional<bool> truth;
    if (Problem problem = (*this)(truth)) return problem;
    to = *truth;
    return std::nullopt;
  }
  Problem operator()(std::string& to) const {
    const std::string* text = std::get_if<std::string>(&plain);
    if (!setting.choices.empty() && !choice()) return wrong_choice(setting);
    if (!text) return "must be a string";
    if (text->find('\0') != std::string::npos) return "must not contain a NUL byte";
    if (!in_range(setting, static_cast<double>(text->size())))
      return out_of_range(setting, "a string with a length");
    to = *text;
    return std::nullopt;
  }
  template <class Enum>
  requires std::is_enum_v<Enum> Problem operator()(Enum& to) const {
    const auto number = choice();
    if (!number) return wrong_choice(setting);
    to = static_cast<Enum>(*number);
    return std::nullopt;
  }
  Problem operator()(std::vector<std::string>& to) const {
    const auto* items = std::get_if<std::vector<std::string>>(&plain);
    if (!items) return "must be a list of strings";
    if (!in_range(setting, static_cast<double>(items->size())))
      return out_of_range(setting, "a list with a length");
    to = *items;
    return std::nullopt;
  }

  std::optional<std::size_t> choice() const {
    const std::string* text = std::get_if<std::string>(&plain);
    const auto found = text ? std::ranges::find(setting.choices, *text) : setting.choices.end();
    if (found == setting.choices.end()) return std::nullopt;
    return static_cast<std::size_t>(found - setting.choices.begin());
  }
};

Problem assign(Config& config, const Setting& setting, const Plain& plain) {
  return std::visit([&](auto target) { return Assign{setting, plain}(target(config)); }, setting.target);
}

template <class T>
bool holds(const Setting& setting) {
  return std::holds_alternative<T& (*)(Config&)>(setting.target);
}

bool is_text(const Setting& setting) {
  return holds<std::string>(setting) || holds<server::ChatOptions::SendMessage>(setting);
}

// Returns true for a number of bytes, which may have a unit.
bool is_size(const Setting& setting) {
  return holds<std::size_t>(setting) && !setting.counts;
}

std::optional<Plain> plain_of(json::Value value, bool size) {
  if (value.is_bool()) return value.boolean();
  if (value.is_string() && size) return parse_size(value.string());
  if (value.is_string()) return value.str();
  if (value.is_number()) return value.real();
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> items;
  for (const json::Value item : value) {
    if (!item.is_string()) return std::nullopt;
    items.push_back(item.str());
  }
  return items;
}

}  // namespace

bool is_switch(const Setting& setting) {
  return holds<bool>(setting) || holds<std::optional<bool>>(setting);
}

std::optional<std::string> set_from_text(Config& config, const Setting& setting, std::string_view text) {
  if (is_text(setting)) return assign(config, setting, std::string(text));
  if (holds<std::vector<std::string>>(setting)) return assign(config, setting, split_list(text));
  if (is_switch(setting)) {
    const auto truth = parse_bool(text);
    return assign(config, setting, truth ? Plain(*truth) : Plain(std::string(text)));
  }
  const auto number = is_size(setting) ? parse_size(text) : parse_number(text);
  return assign(config, setting, number ? Plain(*number) : Plain(std::string(text)));
}

std::optional<std::string> set_from_json(Config& config, const Setting& setting, json::Value value) {
  // Replaces a value of an unsupported type with one that this setting refuses, to get the setting's own
  // error.
  const Plain nothing = is_text(setting) ? Plain(0.0) : Plain(std::string());
  return assign(config, setting, plain_of(value, is_size(setting)).value_or(nothing));
}

std::string default_text(const Setting& setting) {
  Config config;
  const auto show = [&](auto target) -> std::string {
    const auto& value = target(config);
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
    if constexpr (std::is_same_v<T, std::optional<bool>>) return "";
    if constexpr (std::is_same_v<T, int>) return std::to_string(value);
    if constexpr (std::is_same_v<T, double>) return number_text(value);
    if constexpr (std::is_same_v<T, std::size_t>)
      return setting.counts ? std::to_string(value) : size_text(value);
    if constexpr (std::is_same_v<T, std::chrono::milliseconds>) return number_text(seconds(value));
    if constexpr (std::is_same_v<T, std::string>) return value;
    if constexpr (std::is_enum_v<T>) return std::string(setting.choices[static_cast<std::size_t>(value)]);
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      std::string joined;
      for (const std::string& item : value) joined += (joined.empty() ? "" : ",") + item;
      return joined;
    }
  };
  return std::visit(show, setting.target);
}

}  // namespace baton::app
