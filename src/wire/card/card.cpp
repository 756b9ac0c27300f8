#include "wire/card/card.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/embedded.h"
#include "wire/json/writer.h"

namespace baton::wire {
namespace {

constexpr std::array<std::string_view, 9> kKept{"name",    "description",       "version",
                                                "skills",  "defaultInputModes", "defaultOutputModes",
                                                "iconUrl", "documentationUrl",  "provider"};
// Baton's own, or filled in by Baton.
constexpr std::array<std::string_view, 8> kLeftOut{"baton",
                                                   "$schema",
                                                   "url",
                                                   "capabilities",
                                                   "protocolVersion",
                                                   "preferredTransport",
                                                   "additionalInterfaces",
                                                   "supportedInterfaces"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> strings_of(Value list) {
  std::vector<std::string> strings;
  if (!list.is_array()) return strings;
  for (const Value item : list) strings.push_back(item.str());
  return strings;
}

task::Skill read_skill(Value skill) {
  return {skill["id"].str(),
          skill["name"].str(),
          skill["description"].str(),
          strings_of(skill["tags"]),
          strings_of(skill["examples"]),
          strings_of(skill["inputModes"]),
          strings_of(skill["outputModes"])};
}

task::Json read_extra(Value card) {
  task::Json extra;
  bool any = false;
  Writer writer(extra.text);
  writer.object([&] {
    for (const Value member : card) {
      if (among(kKept, member.key()) || among(kLeftOut, member.key())) continue;
      writer.key(member.key()).raw(member.raw());
      any = true;
    }
  });
  return any ? extra : task::Json{};
}

Schema card_schema() {
  auto schema = Schema::parse(base::embedded_file("agent-card.schema.json"));
  if (!schema) std::abort();  // the program was built without its own schema
  return std::move(*schema);
}

}  // namespace

std::vector<SchemaProblem> check_card(std::string_view json) {
  static const Schema schema = card_schema();
  return schema.check(json);
}

task::AgentCard read_card(Value card) {
  task::AgentCard read;
  read.name = card["name"].str();
  read.description = card["description"].str();
  read.version = card["version"].str();
  if (const Value provider = card["provider"]; provider.is_object()) {
    read.provider = task::Provider{provider["organization"].str(), provider["url"].str()};
  }
  read.documentation_url = card["documentationUrl"].str();
  read.icon_url = card["iconUrl"].str();
  read.default_input_modes = strings_of(card["defaultInputModes"]);
  read.default_output_modes = strings_of(card["defaultOutputModes"]);
  for (const Value skill : card["skills"]) read.skills.push_back(read_skill(skill));
  read.extra = read_extra(card);
  return read;
}

}  // namespace baton::wire
