// The texts about steps and conditions in the picture of a plan, cut to the available width. Widths are
// estimated for wide fonts, because the reader's fonts are not known.
//
// Pure functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "agents/plan/plan.h"

namespace baton::agents {

struct TextSize {
  int px = 13;
  bool bold = false;
};
// In pixels.
int width_of(std::string_view text, TextSize size);
// On one line of at most `width` pixels; an ellipsis marks the cut. Characters that XML does not allow,
// and those that change the direction of text, become U+FFFD.
std::string fitted(std::string_view text, int width, TextSize size);
// For text and attributes of XML.
std::string xml_escaped(std::string_view text);

// "340 ms", "3.2 s", "4 min 10 s", "2 h 5 min", "3 d 4 h".
std::string words_for(std::chrono::milliseconds time);
// "1 step", "3 steps".
std::string counted(std::int64_t number, std::string_view noun);
// "1,234".
std::string with_commas(std::int64_t number);

std::string words_for(const Condition& condition);
// The subject of a step: an agent's name, a question, a time, what a map goes over.
std::string words_for(const PlanStep& step);
// Retries, time limit, and the effect of a failure; empty if the step has no such rules.
std::string rules_of(const PlanStep& step);
// "all of these", "2 of these".
std::string words_for(const Join& join);

}  // namespace baton::agents
