// The names of security schemes and OAuth flows in cards.
#pragma once

#include <array>
#include <string_view>

#include "task/card.h"

namespace baton::protocol {

struct SchemeName {
  task::SecurityScheme::Kind kind;
  std::string_view type;     // before 1.0
  std::string_view wrapper;  // a2a.v1 and 1.0
};
inline constexpr std::array<SchemeName, 5> kSchemeNames{{
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
inline constexpr std::array<FlowName, 5> kFlowNames{{
    {task::OAuthFlow::Kind::authorization_code, "authorizationCode"},
    {task::OAuthFlow::Kind::client_credentials, "clientCredentials"},
    {task::OAuthFlow::Kind::device_code, "deviceCode"},
    {task::OAuthFlow::Kind::implicit, "implicit"},
    {task::OAuthFlow::Kind::password, "password"},
}};

}  // namespace baton::protocol
