// AgentCard: what an agent says about itself (A2A 1.0, a2a.proto), without what Baton fills in when it serves
// the card: URLs, interfaces and capabilities.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "task/json.h"

namespace baton::task {

// Known to the agent, passed through by Baton.
struct Extension {
  std::string uri;
  std::string description;
  bool required = false;  // who does not ask for it is refused
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

// A way to say who calls (OpenAPI's security schemes).
struct SecurityScheme {
  enum class Kind { api_key, http, oauth2, open_id_connect, mutual_tls };

  std::string name;  // as requirements call it
  Kind kind = Kind::http;
  std::string description;
  std::string location, parameter;    // api_key: "header", "query" or "cookie", and the name there
  std::string scheme, bearer_format;  // http
  std::vector<OAuthFlow> flows;       // oauth2
  std::string metadata_url;           // oauth2
  std::string connect_url;            // open_id_connect

  friend bool operator==(const SecurityScheme&, const SecurityScheme&) = default;
};

// Schemes that are needed together, each with its scopes. In a list of requirements any one will do.
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

// What callers that say who they are get to see besides.
struct CardExtras {
  std::string description;    // in place of the card's; empty: the card's
  std::vector<Skill> skills;  // after the card's; one with the id of another takes its place

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
  bool streaming = true;  // false: it has no use for being streamed
  bool push = true;       // false: nor for webhooks
  std::vector<Extension> extensions;
  std::vector<SecurityScheme> security_schemes;
  std::vector<SecurityRequirement> security;
  std::optional<CardExtras> extended;  // absent: there is no extended card

  friend bool operator==(const AgentCard&, const AgentCard&) = default;
};

}  // namespace baton::task
