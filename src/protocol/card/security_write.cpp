#include <algorithm>

#include "protocol/card/security.h"
#include "protocol/card/security_names.h"

namespace baton::protocol {
namespace {

using task::OAuthFlow;
using task::SecurityScheme;
using FlowKind = OAuthFlow::Kind;
using Kind = SecurityScheme::Kind;

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

void write_scopes(json::Writer& out, const std::vector<std::string>& scopes) {
  out.array([&] {
    for (const std::string& scope : scopes) out.string(scope);
  });
}

void write_list(json::Writer& out, std::string_view member,
                const std::vector<task::SecurityRequirement>& requirements, bool wrapped) {
  const auto write_needs = [&](const task::SecurityRequirement& requirement) {
    out.object([&] {
      for (const auto& [name, scopes] : requirement) {
        out.key(name);
        if (!wrapped) write_scopes(out, scopes);
        if (wrapped) out.object([&] { out.key("list"), write_scopes(out, scopes); });
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
