#include <set>

#include "protocol/card/security.h"
#include "protocol/card/security_names.h"

namespace baton::protocol {
namespace {

using task::SecurityScheme;
using Kind = SecurityScheme::Kind;

// How a scheme is written: its kind, and the object that has its members.
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
      return problem(
          pointer,
          "needs a \"type\" (apiKey, http, oauth2, openIdConnect or mutualTLS), or the member that "
          "A2A 1.0 has for it (httpAuthSecurityScheme, ...)");
    }
    const json::Value members = found.members;
    switch (found.name->kind) {
      case Kind::api_key: {
        want(members, "name", pointer);
        const std::string_view place = location_of(members).string();
        if (place != "header" && place != "query" && place != "cookie") {
          problem(pointer, "its place must be \"header\", \"query\" or \"cookie\"");
        }
        break;
      }
      case Kind::http:
        want(members, "scheme", pointer);
        break;
      case Kind::oauth2:
        if (read_flows(members["flows"]).empty()) problem(pointer + "/flows", "names no flow that A2A has");
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
        problem(pointer + "/" + name, "securitySchemes has no scheme of this name");
      }
    }
  }

  std::set<std::string, std::less<>> known_;
  std::vector<json::SchemaProblem> problems_;
};

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

}  // namespace baton::protocol
