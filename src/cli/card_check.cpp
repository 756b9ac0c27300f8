#include "cli/card_check.h"

#include <string_view>

#include "base/text.h"
#include "cli/printable.h"
#include "protocol/card/card.h"
#include "protocol/card/remote_card.h"
#include "protocol/card/remote_check.h"
#include "protocol/card/security.h"

namespace baton::cli {
namespace {

using json::Value;

void append_line(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  std::string line = printable_line(name);
  line.append(line.size() < 15 ? 15 - line.size() : 1, ' ');
  out += line + printable_line(value) + '\n';
}

void append_word(std::string& list, std::string_view word) {
  if (!list.empty()) list += ", ";
  list += word;
}

std::string capabilities_of(const protocol::RemoteCard& read) {
  std::string text;
  if (read.streaming) append_word(text, "streaming");
  if (read.push) append_word(text, "pushNotifications");
  if (read.extended) append_word(text, "extended card");
  return text.empty() ? "none" : text;
}

std::string authentication_of(const task::AgentCard& card, Value old) {
  std::string text;
  for (const Value word : old["authentication"]["schemes"]) append_word(text, word.string());
  if (!card.security_schemes.empty()) text.clear();
  for (const task::SecurityScheme& scheme : card.security_schemes) {
    append_word(text, scheme.name + " (" + std::string(protocol::scheme_word(scheme)) + ")");
  }
  return text;
}

void append_skill(std::string& out, const task::Skill& skill) {
  std::string text = skill.name;
  if (!skill.description.empty()) text += ": " + skill.description;
  append_line(out, "skill " + skill.id, text);
  append_line(out, "  tags", base::comma_separated(skill.tags));
  append_line(out, "  examples", base::comma_separated(skill.examples));
}

}  // namespace

std::vector<std::string> check_card(Value card) {
  const bool is_source =
      card["baton"].is_object() && card["url"].absent() && card["supportedInterfaces"].absent();
  std::vector<std::string> lines;
  for (const json::SchemaProblem& problem :
       is_source ? protocol::check_card(card.raw()) : protocol::check_remote_card(card)) {
    lines.push_back((problem.pointer.empty() ? "the card" : problem.pointer) + ": " + problem.reason);
  }
  return lines;
}

std::string show_card(Value card) {
  const protocol::RemoteCard read = protocol::read_remote_card(card);
  std::string out;
  append_line(out, "name", read.card.name);
  append_line(out, "description", read.card.description);
  append_line(out, "version", read.card.version);
  for (const protocol::RemoteInterface& place : read.interfaces) {
    const std::string how = "A2A " + std::string(protocol::name_of(place.version)) + " " +
                            std::string(protocol::name_of(place.binding));
    append_line(out, "interface",
                how + " " + place.url + (place.tenant.empty() ? "" : " tenant " + place.tenant));
  }
  if (read.card.provider) append_line(out, "provider", read.card.provider->organization);
  append_line(out, "documentation", read.card.documentation_url);
  append_line(out, "capabilities", capabilities_of(read));
  for (const task::Extension& extension : read.card.extensions) {
    append_line(out, "extension", extension.uri + (extension.required ? " (required)" : ""));
  }
  append_line(out, "authentication", authentication_of(read.card, card));
  append_line(out, "input", base::comma_separated(read.card.default_input_modes));
  append_line(out, "output", base::comma_separated(read.card.default_output_modes));
  for (const task::Skill& skill : read.card.skills) append_skill(out, skill);
  return out;
}

}  // namespace baton::cli
