#include "agents/plan/plan_words.h"

#include <array>
#include <cstdio>

#include "base/text.h"
#include "json/document.h"

namespace baton::agents {
namespace {

using StepKind = PlanStep::Kind;
using Test = Condition::Test;

constexpr std::string_view kUnshowable = "\xEF\xBF\xBD", kEllipsis = "…";
constexpr std::size_t kCharsMax = 400;  // characters that are looked at

// In hundredths of the font's size; those of DejaVu Sans, which is wide.
constexpr std::array<unsigned char, 95> kAsciiWidths{
    32, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84};

int width_of_char(std::uint32_t c) {
  if (c >= 0x20 && c < 0x7F) return kAsciiWidths.at(c - 0x20);
  if (c < 0x1100) return 72;
  const bool is_mark = c >= 0x2000 && c < 0x2E80;
  return is_mark ? 100 : 115;
}

bool is_unwanted(std::uint32_t c) {
  const bool is_control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
  const bool turns =
      (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F;
  return is_control || turns || c == 0xFFFE || c == 0xFFFF;
}

// Calls `see` with each character and its bytes until that returns false.
template <class See>
void for_each_char(std::string_view text, See&& see) {
  for (std::size_t seen = 0; !text.empty() && seen < kCharsMax; ++seen) {
    const base::CodePoint point = base::first_code_point(text);
    const bool is_space = point.value == '\n' || point.value == '\r' || point.value == '\t';
    std::string_view bytes = text.substr(0, point.bytes);
    if (is_space) bytes = " ";
    if (point.bytes == 0 || (!is_space && is_unwanted(point.value))) bytes = kUnshowable;
    if (!see(is_space ? ' ' : point.value, bytes)) return;
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
}

int pixels(int hundredths, TextSize size) {
  return (hundredths * size.px * (size.bold ? 115 : 100) + 9'999) / 10'000;
}

std::string json_words(const task::Json& json) {
  const auto document = json::Document::view_of(json.text);
  return document.root().is_string() ? "\"" + document.root().str() + "\"" : json.text;
}

// "/steps/find/text" is "find/text", and what a caller's message asks for is named as in a card.
std::string short_pointer(const std::string& pointer) {
  if (pointer == "/message/metadata/skill") return "skill";
  if (pointer == "/message/metadata/tags") return "tag";
  constexpr std::string_view kSteps = "/steps/";
  return pointer.substr(pointer.starts_with(kSteps) ? kSteps.size() : 0);
}

std::string parts_joined(const Condition& condition, std::string_view word) {
  std::string text;
  for (const Condition& part : condition.parts) {
    const bool is_group = part.test == Test::all || part.test == Test::any;
    const std::string one = words_for(part);
    if (!text.empty()) text.append(" ").append(word).append(" ");
    text += is_group && part.parts.size() > 1 && condition.parts.size() > 1 ? "(" + one + ")" : one;
  }
  return text;
}

std::string time_of(const PlanStep& step) {
  const auto document = json::Document::view_of(step.time.text);
  if (document.root().is_string()) return "until " + document.root().str();
  const auto ms = static_cast<std::int64_t>(document.root().real().value_or(0) * 1000);
  return words_for(std::chrono::milliseconds(ms));
}

std::string items_of(const PlanStep& step) {
  const auto document = json::Document::view_of(step.over.text);
  if (document.root().is_string()) return document.root().str();
  return "a list of " + std::to_string(document.root().size());
}

}  // namespace

int width_of(std::string_view text, TextSize size) {
  int width = 0;
  for_each_char(text, [&](std::uint32_t c, std::string_view) {
    width += width_of_char(c);
    return true;
  });
  return pixels(width, size);
}

std::string fitted(std::string_view text, int width, TextSize size) {
  std::string whole, cut;
  int taken = 0;
  const int ellipsis = width_of_char(0x2026);
  for_each_char(text, [&](std::uint32_t c, std::string_view bytes) {
    if (pixels(taken + ellipsis, size) <= width) cut = whole;
    taken += width_of_char(c);
    whole += bytes;
    return pixels(taken, size) <= width;
  });
  if (pixels(taken, size) <= width) return whole;
  while (cut.ends_with(' ')) cut.pop_back();
  return cut + std::string(kEllipsis);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string words_for(std::chrono::milliseconds time) {
  using namespace std::chrono;
  const std::int64_t ms = std::max<std::int64_t>(time.count(), 0), s = ms / 1000;
  const auto both = [](std::int64_t large, const char* one, std::int64_t small, const char* other) {
    std::string text = std::to_string(large) + one;
    return small == 0 ? text : text + " " + std::to_string(small) + other;
  };
  if (ms < 1'000) return std::to_string(ms) + " ms";
  if (s < 60) {
    const std::int64_t tenth = ms % 1000 / 100;
    return std::to_string(s) + (tenth == 0 ? "" : "." + std::to_string(tenth)) + " s";
  }
  if (s < 3'600) return both(s / 60, " min", s % 60, " s");
  if (s < 86'400) return both(s / 3'600, " h", s / 60 % 60, " min");
  return both(s / 86'400, " d", s / 3'600 % 24, " h");
}

std::string counted(std::int64_t number, std::string_view noun) {
  return with_commas(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > first; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string words_for(const Condition& condition) {
  const std::string value = short_pointer(condition.pointer);
  switch (condition.test) {
    case Test::all:
      return parts_joined(condition, "and");
    case Test::any:
      return parts_joined(condition, "or");
    case Test::none:
      return "not (" + parts_joined(condition, "or") + ")";
    case Test::equals:
      return value + " is " + json_words(condition.with);
    case Test::differs:
      return value + " is not " + json_words(condition.with);
    case Test::greater:
      return value + " > " + json_words(condition.with);
    case Test::less:
      return value + " < " + json_words(condition.with);
    case Test::contains:
      return value + " contains " + json_words(condition.with);
    case Test::one_of:
      return value + " is one of " + json_words(condition.with);
    case Test::exists:
      return value + (condition.with.text == "false" ? " is missing" : " exists");
  }
  return {};
}

std::string words_for(const PlanStep& step) {
  switch (step.kind) {
    case StepKind::agent: {
      if (!step.agent.empty()) return step.agent;
      std::string text = step.skill.empty() ? "" : "skill " + step.skill;
      if (!step.tag.empty()) text += (text.empty() ? "tag " : ", tag ") + step.tag;
      return text;
    }
    case StepKind::ask:
      return (step.for_auth ? "authorisation: " : "asks: ") + step.question;
    case StepKind::wait:
      return "wait " + time_of(step);
    case StepKind::map: {
      const std::string rule = step.join.rule == Join::Rule::all ? "" : ", " + words_for(step.join);
      return "map over " + items_of(step) + ", " + std::to_string(step.concurrency) + " at once" + rule;
    }
    case StepKind::loop:
      return std::string(step.until ? "loop until " : "loop while ") + words_for(step.condition) +
             ", at most " + counted(step.most, "time");
    case StepKind::parallel:
      return step.concurrency > 0 ? std::to_string(step.concurrency) + " at once" : "";
    case StepKind::sequence:
    case StepKind::route:
      break;
  }
  return {};
}

std::string rules_of(const PlanStep& step) {
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (step.retry.count > 0) add("up to " + std::to_string(step.retry.count + 1) + " attempts");
  if (step.timeout.count() > 0) add(words_for(step.timeout) + (step.retry.count > 0 ? " each" : " at most"));
  if (step.on_failure == PlanStep::OnFailure::goes_on) add("may fail");
  return text;
}

std::string words_for(const Join& join) {
  switch (join.rule) {
    case Join::Rule::all:
      return "all";
    case Join::Rule::any:
      return "any";
    case Join::Rule::n_of:
      return std::to_string(join.need) + " must succeed";
    case Join::Rule::best_effort:
      return "best effort";
  }
  return {};
}

}  // namespace baton::agents
