// AgentCard: an agent's description of itself (A2A 1.0, a2a.proto). Baton fills in URLs, interfaces and
// capabilities when it serves the card.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "task/json.h"

namespace baton::task {

// An A2A extension that the agent understands; Baton passes it through.
struct Extension {
  std::string uri;
  std::string description;
  bool required = false;  // requests that do not ask for it are refused
  Json params;            // an object

  friend bool operator==(const Extension&, const Extension&) = default;
};

struct OAuthFlow {
  enum class Kind { authorization_code, client_credentials, device_code, implicit, password };

  Kind kind = Kind::authorization_code;
  std::string authorization_url;
  std::string device_authorization_url;
  std::string token_url;
  std::string refresh_url;
  std::vector<std::pair<std::string, std::string>> scopes;  // name and description
  bool pkce_required = false;

  friend bool operator==(const OAuthFlow&, const OAuthFlow&) = default;
};

// A way for callers to authenticate (OpenAPI's security schemes).
struct SecurityScheme {
  enum class Kind { api_key, http, oauth2, open_id_connect, mutual_tls };

  std::string name;  // the name that requirements use
  Kind kind = Kind::http;
  std::string description;
  std::string location, parameter;    // api_key: "header", "query" or "cookie", and the name there
  std::string scheme, bearer_format;  // http
  std::vector<OAuthFlow> flows;       // oauth2
  std::string metadata_url;           // oauth2
  std::string connect_url;            // open_id_connect

  friend bool operator==(const SecurityScheme&, const SecurityScheme&) = default;
};

// Schemes that are required together, each with its scopes. In a list of requirements, any one suffices.
using SecurityRequirement = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct Skill {
  std::string id;
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::vector<std::string> examples;
  std::vector<std::string> input_modes;   // empty: the card's
  std::vector<std::string> output_modes;  // empty: the card's
  std::vector<SecurityRequirement> security;

  friend bool operator==(const Skill&, const Skill&) = default;
};

struct Provider {
  std::string organization;
  std::string url;

  friend bool operator==(const Provider&, const Provider&) = default;
};

// Additional content for authenticated callers.
struct CardExtras {
  std::string description;    // replaces the card's; empty: the card's
  std::vector<Skill> skills;  // follow the card's; a skill with the same id is replaced

  friend bool operator==(const CardExtras&, const CardExtras&) = default;
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
  bool streaming = true;  // false: the agent has switched streaming off
  bool push = true;       // false: the agent has switched webhooks off
  std::vector<Extension> extensions;
  std::vector<SecurityScheme> security_schemes;
  std::vector<SecurityRequirement> security;
  std::optional<CardExtras> extended;  // absent: there is no extended card

  friend bool operator==(const AgentCard&, const AgentCard&) = default;
};

}  // namespace baton::task
