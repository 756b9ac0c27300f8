#include "protocol/card/security.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "task/card.h"

namespace baton::protocol {
namespace {

struct SchemeName {
  task::SecurityScheme::Kind kind;
  std::string_view type;     // before 1.0
  std::string_view wrapper;  // a2a.v1 and 1.0
};
constexpr std::array<SchemeName, 5> kSchemeNames{{
    {task::SecurityScheme::Kind::api_key, "apiKey", "apiKeySecurityScheme"},
    {task::SecurityScheme::Kind::http, "http", "httpAuthSecurityScheme"},
    {task::SecurityScheme::Kind::oauth2, "oauth2", "oauth2SecurityScheme"},
    {task::SecurityScheme::Kind::open_id_connect, "openIdConnect", "openIdConnectSecurityScheme"},
    {task::SecurityScheme::Kind::mutual_tls, "mutualTLS", "mtlsSecurityScheme"},
}};

struct FlowName {
  task::OAuthFlow::Kind kind;
  std::string_view name;
};
// In order of preference, for views with room for only one.
constexpr std::array<FlowName, 5> kFlowNames{{
    {task::OAuthFlow::Kind::authorization_code, "authorizationCode"},
    {task::OAuthFlow::Kind::client_credentials, "clientCredentials"},
    {task::OAuthFlow::Kind::device_code, "deviceCode"},
    {task::OAuthFlow::Kind::implicit, "implicit"},
    {task::OAuthFlow::Kind::password, "password"},
}};

using task::SecurityScheme;
using Kind = SecurityScheme::Kind;

// The form in which a scheme is written: its kind, and the object that has its members.
struct Written {
  const SchemeName* name = nullptr;  // null: neither form
  json::Value members;
};

Written written(json::Value scheme) {
  for (const SchemeName& name : kSchemeNames) {
    if (scheme["type"].string() == name.type) return {&name, scheme};
  }
  for (const SchemeName& name : kSchemeNames) {
    if (scheme[name.wrapper].is_object()) return {&name, scheme[name.wrapper]};
  }
  return {};
}

// The place of an API key: "in" was renamed to "location".
json::Value location_of(json::Value members) {
  return members["location"].absent() ? members["in"] : members["location"];
}

bool all_texts(json::Value list) {
  for (const json::Value item : list) {
    if (!item.is_string()) return false;
  }
  return list.is_array();
}

std::vector<task::OAuthFlow> read_flows(json::Value flows) {
  std::vector<task::OAuthFlow> read;
  for (const FlowName& name : kFlowNames) {
    const json::Value flow = flows[name.name];
    if (!flow.is_object()) continue;
    task::OAuthFlow& into = read.emplace_back();
    into.kind = name.kind;
    into.authorization_url = flow["authorizationUrl"].str();
    into.device_authorization_url = flow["deviceAuthorizationUrl"].str();
    into.token_url = flow["tokenUrl"].str();
    into.refresh_url = flow["refreshUrl"].str();
    for (const json::Value scope : flow["scopes"]) into.scopes.emplace_back(scope.key(), scope.str());
    into.pkce_required = flow["pkceRequired"].boolean();
  }
  return read;
}

class SecurityCheck {
 public:
  std::vector<json::SchemaProblem> run(json::Value card) {
    const json::Value schemes = card["securitySchemes"];
    if (!schemes.absent() && !schemes.is_object()) problem("/securitySchemes", "must be of type \"object\"");
    for (const json::Value scheme : schemes) {
      if (schemes.is_object()) check_scheme(scheme, "/securitySchemes/" + std::string(scheme.key()));
      known_.insert(std::string(scheme.key()));
    }
    check_owner(card, "");
    int index = 0;
    for (const json::Value skill : card["skills"]) check_owner(skill, "/skills/" + std::to_string(index++));
    return std::move(problems_);
  }

 private:
  void problem(std::string pointer, std::string reason) {
    problems_.push_back({std::move(pointer), std::move(reason)});
  }

  void want(json::Value members, std::string_view member, const std::string& pointer) {
    const bool there = members[member].is_string() && !members[member].string().empty();
    if (!there) problem(pointer, "\"" + std::string(member) + "\" is missing");
  }

  void check_scheme(json::Value scheme, const std::string& pointer) {
    const Written found = written(scheme);
    if (!found.name) {
      return problem(pointer,
                     "requires a \"type\" (apiKey, http, oauth2, openIdConnect or mutualTLS) or the A2A 1.0 "
                     "member for it (httpAuthSecurityScheme, ...)");
    }
    const json::Value members = found.members;
    switch (found.name->kind) {
      case Kind::api_key: {
        want(members, "name", pointer);
        const std::string_view place = location_of(members).string();
        if (place != "header" && place != "query" && place != "cookie") {
          problem(pointer, "must have the location \"header\", \"query\" or \"cookie\"");
        }
        break;
      }
      case Kind::http:
        want(members, "scheme", pointer);
        break;
      case Kind::oauth2:
        if (read_flows(members["flows"]).empty())
          problem(pointer + "/flows", "has none of the flows that A2A defines");
        break;
      case Kind::open_id_connect:
        want(members, "openIdConnectUrl", pointer);
        break;
      case Kind::mutual_tls:
        break;
    }
  }

  void check_owner(json::Value owner, const std::string& pointer) {
    for (const std::string_view member : {"security", "securityRequirements"}) {
      const json::Value list = owner[member];
      const std::string where = pointer + "/" + std::string(member);
      if (list.absent()) continue;
      if (!list.is_array()) problem(where, "must be of type \"array\"");
      int index = 0;
      for (const json::Value requirement : list) {
        if (list.is_array()) check_requirement(requirement, where + "/" + std::to_string(index++));
      }
    }
  }

  void check_requirement(json::Value requirement, const std::string& pointer) {
    if (!requirement.is_object()) return problem(pointer, "must be of type \"object\"");
    const json::Value wrapped = requirement["schemes"];
    for (const json::Value need : wrapped.is_object() ? wrapped : requirement) {
      const std::string name(need.key());
      const json::Value scopes = need.is_object() ? need["list"] : need;
      // An empty list is left out of ProtoJSON.
      const bool absent = need.is_object() && scopes.absent();
      if (!absent && !all_texts(scopes)) {
        problem(pointer + "/" + name, "must be a list of scopes");
      } else if (!known_.contains(name)) {
        problem(pointer + "/" + name, "securitySchemes has no scheme with this name");
      }
    }
  }

  std::set<std::string, std::less<>> known_;
  std::vector<json::SchemaProblem> problems_;
};

// ---- Writing.

using task::OAuthFlow;
using FlowKind = OAuthFlow::Kind;

const SchemeName& name_of(Kind kind) {
  return *std::find_if(kSchemeNames.begin(), kSchemeNames.end(),
                       [&](const SchemeName& name) { return name.kind == kind; });
}

// `v1_0`: with the members that 1.0 added. URLs required by the kind of flow are written even if empty.
void write_flow(json::Writer& out, const OAuthFlow& flow, bool v1_0) {
  const bool has_page = flow.kind == FlowKind::authorization_code || flow.kind == FlowKind::implicit;
  out.object([&] {
    if (has_page) out.member("authorizationUrl", flow.authorization_url);
    if (flow.kind == FlowKind::device_code) {
      out.member("deviceAuthorizationUrl", flow.device_authorization_url);
    }
    if (flow.kind != FlowKind::implicit) out.member("tokenUrl", flow.token_url);
    out.optional("refreshUrl", flow.refresh_url).key("scopes").object([&] {
      for (const auto& [name, description] : flow.scopes) out.member(name, description);
    });
    if (v1_0 && flow.pkce_required && flow.kind == FlowKind::authorization_code) {
      out.member("pkceRequired", true);
    }
  });
}

// `room`: the most flows to write.
void write_flows(json::Writer& out, const std::vector<OAuthFlow>& flows, std::size_t room, bool v1_0) {
  out.key("flows").object([&] {
    for (const FlowName& name : kFlowNames) {
      if (name.kind == FlowKind::device_code && !v1_0) continue;
      const auto flow = std::find_if(flows.begin(), flows.end(),
                                     [&](const OAuthFlow& other) { return other.kind == name.kind; });
      if (flow == flows.end() || room == 0) continue;
      --room;
      out.key(name.name);
      write_flow(out, *flow, v1_0);
    }
  });
}

enum class Shape { tagged, wrapped_v0_3, wrapped };

void write_members(json::Writer& out, const SecurityScheme& scheme, Shape shape) {
  out.optional("description", scheme.description);
  switch (scheme.kind) {
    case Kind::api_key:
      out.member(shape == Shape::tagged ? "in" : "location", scheme.location)
          .member("name", scheme.parameter);
      break;
    case Kind::http:
      out.member("scheme", scheme.scheme).optional("bearerFormat", scheme.bearer_format);
      break;
    case Kind::oauth2:
      write_flows(out, scheme.flows, shape == Shape::tagged ? scheme.flows.size() : 1,
                  shape == Shape::wrapped);
      out.optional("oauth2MetadataUrl", scheme.metadata_url);
      break;
    case Kind::open_id_connect:
      out.member("openIdConnectUrl", scheme.connect_url);
      break;
    case Kind::mutual_tls:
      break;
  }
}

void write_scheme(json::Writer& out, const SecurityScheme& scheme, CardView view) {
  const SchemeName& name = name_of(scheme.kind);
  out.key(scheme.name).object([&] {
    if (view == CardView::superset) {
      out.member("type", name.type);
      write_members(out, scheme, Shape::tagged);
    }
    out.key(name.wrapper).object([&] {
      write_members(out, scheme, view == CardView::v0_3_rest ? Shape::wrapped_v0_3 : Shape::wrapped);
    });
  });
}

void write_list(json::Writer& out, std::string_view member,
                const std::vector<task::SecurityRequirement>& requirements, bool wrapped) {
  const auto write_needs = [&](const task::SecurityRequirement& requirement) {
    out.object([&] {
      for (const auto& each : requirement) {
        const std::vector<std::string>& scopes = each.second;
        out.key(each.first);
        if (!wrapped) out.strings(scopes);
        if (wrapped) out.object([&] { out.key("list").strings(scopes); });
      }
    });
  };
  out.key(member).array([&] {
    for (const task::SecurityRequirement& requirement : requirements) {
      if (!wrapped) write_needs(requirement);
      if (wrapped) out.object([&] { out.key("schemes"), write_needs(requirement); });
    }
  });
}

}  // namespace

std::vector<task::SecurityScheme> read_security_schemes(json::Value schemes) {
  std::vector<SecurityScheme> read;
  if (!schemes.is_object()) return read;
  for (const json::Value scheme : schemes) {
    const Written found = written(scheme);
    if (!found.name) continue;
    SecurityScheme& into = read.emplace_back();
    into.name = scheme.key();
    into.kind = found.name->kind;
    into.description = found.members["description"].str();
    if (into.kind == Kind::api_key) {
      into.location = location_of(found.members).str();
      into.parameter = found.members["name"].str();
    }
    if (into.kind == Kind::http) {
      into.scheme = found.members["scheme"].str();
      into.bearer_format = found.members["bearerFormat"].str();
    }
    if (into.kind == Kind::oauth2) {
      into.flows = read_flows(found.members["flows"]);
      into.metadata_url = found.members["oauth2MetadataUrl"].str();
    }
    if (into.kind == Kind::open_id_connect) into.connect_url = found.members["openIdConnectUrl"].str();
  }
  return read;
}

std::vector<task::SecurityRequirement> read_requirements(json::Value requirements) {
  std::vector<task::SecurityRequirement> read;
  if (!requirements.is_array()) return read;
  for (const json::Value requirement : requirements) {
    if (!requirement.is_object()) continue;
    task::SecurityRequirement& into = read.emplace_back();
    const json::Value wrapped = requirement["schemes"];
    for (const json::Value need : wrapped.is_object() ? wrapped : requirement) {
      std::vector<std::string> scopes;
      const json::Value list = need.is_object() ? need["list"] : need;
      if (list.is_array()) {
        for (const json::Value scope : list) scopes.push_back(scope.str());
      }
      into.emplace_back(need.key(), std::move(scopes));
    }
  }
  return read;
}

std::vector<task::SecurityRequirement> read_security(json::Value owner) {
  auto read = read_requirements(owner["securityRequirements"]);
  return read.empty() ? read_requirements(owner["security"]) : read;
}

std::vector<json::SchemaProblem> check_security(json::Value card) {
  return SecurityCheck().run(card);
}

void write_security_schemes(json::Writer& out, const std::vector<task::SecurityScheme>& schemes,
                            CardView view) {
  if (schemes.empty()) return;
  out.key("securitySchemes").object([&] {
    for (const SecurityScheme& scheme : schemes) write_scheme(out, scheme, view);
  });
}

void write_requirements(json::Writer& out, const std::vector<task::SecurityRequirement>& requirements,
                        CardView view) {
  if (requirements.empty()) return;
  if (view == CardView::superset) write_list(out, "security", requirements, false);
  if (view == CardView::v0_3_rest) return write_list(out, "security", requirements, true);
  write_list(out, "securityRequirements", requirements, true);
}

std::string_view scheme_word(const task::SecurityScheme& scheme) {
  return scheme.kind == Kind::http ? std::string_view(scheme.scheme) : name_of(scheme.kind).type;
}

}  // namespace baton::protocol
