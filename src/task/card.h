// AgentCard: what an agent says about itself (A2A 1.0, a2a.proto), without what Baton fills in when it serves
// the card: URLs, interfaces and capabilities.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "task/json.h"

namespace baton::task {

struct Skill {
  std::string id;
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::vector<std::string> examples;
  std::vector<std::string> input_modes;   // empty: the card's
  std::vector<std::string> output_modes;  // empty: the card's

  friend bool operator==(const Skill&, const Skill&) = default;
};

struct Provider {
  std::string organization;
  std::string url;

  friend bool operator==(const Provider&, const Provider&) = default;
};

struct AgentCard {
  std::string name;
  std::string description;
  std::string version;
  std::optional<Provider> provider;
  std::string documentation_url;
  std::string icon_url;
  std::vector<std::string> default_input_modes;
  std::vector<std::string> default_output_modes;
  std::vector<Skill> skills;
  Json extra;  // an object of all further members, as they were written; absent if there are none

  friend bool operator==(const AgentCard&, const AgentCard&) = default;
};

}  // namespace baton::task
