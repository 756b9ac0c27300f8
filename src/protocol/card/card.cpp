#include "protocol/card/card.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/embedded.h"
#include "base/text.h"
#include "protocol/card/security.h"

namespace baton::protocol {
namespace {

std::vector<std::string> strings_of(json::Value list) {
  std::vector<std::string> strings;
  if (!list.is_array()) return strings;
  for (const json::Value item : list) strings.push_back(item.str());
  return strings;
}

task::Skill read_skill(json::Value skill) {
  return {skill["id"].str(),
          skill["name"].str(),
          skill["description"].str(),
          strings_of(skill["tags"]),
          strings_of(skill["examples"]),
          strings_of(skill["inputModes"]),
          strings_of(skill["outputModes"]),
          read_security(skill)};
}

std::vector<task::Skill> read_skills(json::Value skills) {
  std::vector<task::Skill> read;
  if (!skills.is_array()) return read;
  for (const json::Value skill : skills) read.push_back(read_skill(skill));
  return read;
}

std::vector<task::Extension> read_extensions(json::Value extensions) {
  std::vector<task::Extension> read;
  if (!extensions.is_array()) return read;
  for (const json::Value extension : extensions) {
    if (extension["uri"].string().empty()) continue;
    const json::Value params = extension["params"];
    read.push_back({extension["uri"].str(), extension["description"].str(), extension["required"].boolean(),
                    params.is_object() ? params.json() : task::Json{}});
  }
  return read;
}

// Members of the card itself, in any version of A2A, that the schema does not name: Baton fills them in when
// it serves the card, or leaves them out.
constexpr std::array<std::string_view, 13> kOtherMembers{"url",
                                                         "preferredTransport",
                                                         "additionalInterfaces",
                                                         "interfaces",
                                                         "supportedInterfaces",
                                                         "protocolVersion",
                                                         "protocolVersions",
                                                         "supportsAuthenticatedExtendedCard",
                                                         "supportsExtendedAgentCard",
                                                         "authentication",
                                                         "signatures",
                                                         "stateTransitionHistory",
                                                         "extendedAgentCard"};

// Walks a card along the schema. Reports unknown members of objects that the schema leaves open; the schema
// check reports those of closed objects.
class UnknownMembers {
 public:
  explicit UnknownMembers(json::Value schema) : schema_(schema) {}

  void look(json::Value rules, json::Value value, const std::string& pointer) {
    const std::string_view reference = rules["$ref"].string();
    if (!reference.empty()) rules = json::nearest_value(schema_, reference.substr(1));
    if (value.is_object() && rules["properties"].is_object()) look_at_members(rules, value, pointer);
    std::size_t index = 0;
    if (!value.is_array() || !rules["items"].is_object()) return;
    for (const json::Value item : value) look(rules["items"], item, pointer + "/" + std::to_string(index++));
  }

  std::vector<json::SchemaProblem> found;

 private:
  void look_at_members(json::Value rules, json::Value object, const std::string& pointer) {
    if (!rules["additionalProperties"].missing()) return;
    const json::Value known = rules["properties"];
    for (const json::Value member : object) {
      const std::string place = pointer + "/" + std::string(member.key());
      if (!known[member.key()].missing()) {
        look(known[member.key()], member, place);
      } else if (!member.key().starts_with("x-") &&
                 std::ranges::find(kOtherMembers, member.key()) == kOtherMembers.end()) {
        found.push_back({place, reason(known, member.key())});
      }
    }
  }

  static std::string reason(json::Value known, std::string_view name) {
    std::vector<std::string> names;
    for (const json::Value member : known) names.emplace_back(member.key());
    const std::string near = base::nearest_name(name, names);
    return near.empty() ? "is unknown" : "is unknown; did you mean \"" + near + "\"?";
  }

  const json::Value schema_;
};

json::Schema card_schema() {
  auto schema = json::Schema::parse(base::embedded_file("agent-card.schema.json"));
  if (!schema) std::abort();  // the program was built without its own schema
  return std::move(*schema);
}

}  // namespace

std::vector<json::SchemaProblem> check_card(std::string_view json) {
  static const json::Schema schema = card_schema();
  std::vector<json::SchemaProblem> problems = schema.check(json);
  if (!problems.empty()) return problems;
  const auto document = json::Document::parse_view(json);
  if (!document) return problems;
  problems = check_security(document->root());
  // A remote agent's own card supplies the members that are missing here.
  const bool is_remote = document->root()["baton"]["executor"].string() == "a2a";
  for (const char* member : {"description", "version", "skills", "defaultInputModes", "defaultOutputModes"}) {
    if (is_remote || !document->root()[member].missing()) continue;
    problems.push_back({"", "\"" + std::string(member) + "\" is missing"});
  }
  return problems;
}

std::vector<json::SchemaProblem> unknown_members(json::Value card) {
  static const auto schema = json::Document::parse_view(base::embedded_file("agent-card.schema.json"));
  if (!schema) std::abort();
  UnknownMembers walk(schema->root());
  walk.look(schema->root(), card, "");
  return std::move(walk.found);
}

task::AgentCard read_card(json::Value card) {
  task::AgentCard read;
  read.name = card["name"].str();
  read.description = card["description"].str();
  read.version = card["version"].str();
  if (const json::Value provider = card["provider"]; provider.is_object()) {
    read.provider = task::Provider{provider["organization"].str(), provider["url"].str()};
  }
  read.documentation_url = card["documentationUrl"].str();
  read.icon_url = card["iconUrl"].str();
  read.default_input_modes = strings_of(card["defaultInputModes"]);
  read.default_output_modes = strings_of(card["defaultOutputModes"]);
  read.skills = read_skills(card["skills"]);
  const auto switched_on = [&](json::Value capability) {
    return !capability.is_bool() || capability.boolean();
  };
  read.streaming = switched_on(card["capabilities"]["streaming"]);
  read.push = switched_on(card["capabilities"]["pushNotifications"]);
  read.extensions = read_extensions(card["capabilities"]["extensions"]);
  read.security_schemes = read_security_schemes(card["securitySchemes"]);
  read.security = read_security(card);
  if (const json::Value extended = card["baton"]["extended"]; extended.is_object()) {
    read.extended = task::CardExtras{extended["description"].str(), read_skills(extended["skills"])};
  }
  return read;
}

}  // namespace baton::protocol
