#include "agents/remote/shown_card.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace baton::agents {
namespace {

constexpr std::size_t kCardNameMax = 200, kCardTextMax = 2'000, kWordMax = 100;
constexpr std::size_t kSkillsMax = 100, kWordsMax = 30, kModesMax = 50;

// On one line, without control characters, and cut between two letters.
std::string cut_to(std::string text, std::size_t most) {
  if (!base::is_utf8(text)) return {};
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  text.resize(base::beginning_of(text, most).size());
  return text;
}

std::vector<std::string> cut_to(const std::vector<std::string>& texts, std::size_t count, std::size_t most) {
  std::vector<std::string> kept;
  for (const std::string& text : texts) {
    if (kept.size() < count && !text.empty()) kept.push_back(cut_to(text, most));
  }
  return kept;
}

bool is_mode_character(char c) {
  constexpr std::string_view kOthers = "!#$&-^_.+/*;=\" ";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

std::vector<std::string> media_types(const std::vector<std::string>& modes) {
  std::vector<std::string> kept;
  for (const std::string& mode : modes) {
    const bool is_type = mode.size() <= kWordMax && mode.find('/') != std::string::npos &&
                         std::ranges::all_of(mode, is_mode_character);
    if (is_type && kept.size() < kModesMax) kept.push_back(mode);
  }
  return kept;
}

std::vector<task::Skill> skills_of(const task::AgentCard& remote) {
  std::vector<task::Skill> kept;
  std::set<std::string> ids;
  for (const task::Skill& skill : remote.skills) {
    task::Skill shown;
    shown.id = cut_to(skill.id, kCardNameMax);
    shown.name = cut_to(skill.name, kCardNameMax);
    shown.description = cut_to(skill.description, kCardTextMax);
    shown.tags = cut_to(skill.tags, kWordsMax, kWordMax);
    shown.examples = cut_to(skill.examples, kWordsMax, kCardTextMax);
    shown.input_modes = media_types(skill.input_modes);
    shown.output_modes = media_types(skill.output_modes);
    const bool is_good = !shown.id.empty() && !shown.name.empty() && kept.size() < kSkillsMax;
    if (is_good && ids.insert(shown.id).second) kept.push_back(std::move(shown));
  }
  return kept;
}

}  // namespace

task::AgentCard shown_card(const task::AgentCard& own, const task::AgentCard& remote) {
  task::AgentCard shown = own;
  if (shown.description.empty()) shown.description = cut_to(remote.description, kCardTextMax);
  if (shown.version.empty()) shown.version = cut_to(remote.version, kWordMax);
  if (shown.default_input_modes.empty()) shown.default_input_modes = media_types(remote.default_input_modes);
  if (shown.default_output_modes.empty())
    shown.default_output_modes = media_types(remote.default_output_modes);
  if (shown.skills.empty()) shown.skills = skills_of(remote);
  return shown;
}

}  // namespace baton::agents
