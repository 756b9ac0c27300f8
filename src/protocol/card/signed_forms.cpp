#include "protocol/card/signed_forms.h"

#include <optional>
#include <span>
#include <utility>

#include "json/canonical.h"
#include "json/writer.h"

namespace baton::protocol {
namespace {

using json::Value;
using json::Writer;

enum class FieldKind { text, flag, texts, message, messages, map_of_messages, map_of_texts, object };
// When a member that has its default stays.
enum class Stays { never, if_set };

// A member of a message of lf.a2a.v1 (schema/grpc/a2a_v1_0.proto). `Stays::if_set`: it is required there, or
// `optional`.
struct Field {
  std::string_view name, snake_name;  // ProtoJSON's readers know both
  FieldKind kind;
  Stays stays = Stays::never;
  std::span<const Field> of = {};  // the members of a message
};

constexpr Field required_text(std::string_view name, std::string_view snake_name = {}) {
  return {name, snake_name, FieldKind::text, Stays::if_set, {}};
}
constexpr Field plain_text(std::string_view name, std::string_view snake_name = {}) {
  return {name, snake_name, FieldKind::text, Stays::never, {}};
}
constexpr Field optional_flag(std::string_view name, std::string_view snake_name = {}) {
  return {name, snake_name, FieldKind::flag, Stays::if_set, {}};
}

constexpr Field kScopes{"scopes", {}, FieldKind::map_of_texts, Stays::never, {}};
constexpr Field kRequiredScopes{"scopes", {}, FieldKind::map_of_texts, Stays::if_set, {}};
constexpr Field kAuthorizationCodeFields[]{
    required_text("authorizationUrl", "authorization_url"),
    required_text("tokenUrl", "token_url"),
    plain_text("refreshUrl", "refresh_url"),
    kRequiredScopes,
    {"pkceRequired", "pkce_required", FieldKind::flag, Stays::never, {}}};
constexpr Field kClientCredentialsFields[]{required_text("tokenUrl", "token_url"),
                                           plain_text("refreshUrl", "refresh_url"), kRequiredScopes};
constexpr Field kImplicitFields[]{plain_text("authorizationUrl", "authorization_url"),
                                  plain_text("refreshUrl", "refresh_url"), kScopes};
constexpr Field kPasswordFields[]{plain_text("tokenUrl", "token_url"),
                                  plain_text("refreshUrl", "refresh_url"), kScopes};
constexpr Field kDeviceCodeFields[]{required_text("deviceAuthorizationUrl", "device_authorization_url"),
                                    required_text("tokenUrl", "token_url"),
                                    plain_text("refreshUrl", "refresh_url"), kRequiredScopes};
constexpr Field kFlowsFields[]{
    {"authorizationCode", "authorization_code", FieldKind::message, Stays::never, kAuthorizationCodeFields},
    {"clientCredentials", "client_credentials", FieldKind::message, Stays::never, kClientCredentialsFields},
    {"implicit", {}, FieldKind::message, Stays::never, kImplicitFields},
    {"password", {}, FieldKind::message, Stays::never, kPasswordFields},
    {"deviceCode", "device_code", FieldKind::message, Stays::never, kDeviceCodeFields}};
constexpr Field kApiKeyFields[]{plain_text("description"), required_text("location"), required_text("name")};
constexpr Field kHttpAuthFields[]{plain_text("description"), required_text("scheme"),
                                  plain_text("bearerFormat", "bearer_format")};
constexpr Field kOAuth2Fields[]{plain_text("description"),
                                {"flows", {}, FieldKind::message, Stays::never, kFlowsFields},
                                plain_text("oauth2MetadataUrl", "oauth2_metadata_url")};
constexpr Field kOpenIdFields[]{plain_text("description"),
                                required_text("openIdConnectUrl", "open_id_connect_url")};
constexpr Field kMutualTlsFields[]{plain_text("description")};
constexpr Field kSchemeFields[]{
    {"apiKeySecurityScheme", "api_key_security_scheme", FieldKind::message, Stays::never, kApiKeyFields},
    {"httpAuthSecurityScheme", "http_auth_security_scheme", FieldKind::message, Stays::never,
     kHttpAuthFields},
    {"oauth2SecurityScheme", "oauth2_security_scheme", FieldKind::message, Stays::never, kOAuth2Fields},
    {"openIdConnectSecurityScheme", "open_id_connect_security_scheme", FieldKind::message, Stays::never,
     kOpenIdFields},
    {"mtlsSecurityScheme", "mtls_security_scheme", FieldKind::message, Stays::never, kMutualTlsFields}};
constexpr Field kStringListFields[]{{"list", {}, FieldKind::texts, Stays::never, {}}};
constexpr Field kRequirementFields[]{
    {"schemes", {}, FieldKind::map_of_messages, Stays::never, kStringListFields}};
constexpr std::string_view kRequirements = "securityRequirements";
constexpr Field kRequirementsMember{kRequirements, "security_requirements", FieldKind::messages, Stays::never,
                                    kRequirementFields};
constexpr Field kSkillFields[]{required_text("id"),
                               required_text("name"),
                               required_text("description"),
                               {"tags", {}, FieldKind::texts, Stays::if_set, {}},
                               {"examples", {}, FieldKind::texts, Stays::never, {}},
                               {"inputModes", "input_modes", FieldKind::texts, Stays::never, {}},
                               {"outputModes", "output_modes", FieldKind::texts, Stays::never, {}},
                               kRequirementsMember};
constexpr Field kExtensionFields[]{plain_text("uri"),
                                   plain_text("description"),
                                   {"required", {}, FieldKind::flag, Stays::never, {}},
                                   {"params", {}, FieldKind::object, Stays::never, {}}};
constexpr Field kCapabilitiesFields[]{optional_flag("streaming"),
                                      optional_flag("pushNotifications", "push_notifications"),
                                      {"extensions", {}, FieldKind::messages, Stays::never, kExtensionFields},
                                      optional_flag("extendedAgentCard", "extended_agent_card")};
constexpr Field kProviderFields[]{required_text("url"), required_text("organization")};
constexpr Field kInterfaceFields[]{required_text("url"), required_text("protocolBinding", "protocol_binding"),
                                   plain_text("tenant"),
                                   required_text("protocolVersion", "protocol_version")};
constexpr Field kCardFields[]{
    required_text("name"),
    required_text("description"),
    {"supportedInterfaces", "supported_interfaces", FieldKind::messages, Stays::if_set, kInterfaceFields},
    {"provider", {}, FieldKind::message, Stays::never, kProviderFields},
    required_text("version"),
    required_text("documentationUrl", "documentation_url"),
    {"capabilities", {}, FieldKind::message, Stays::never, kCapabilitiesFields},
    {"securitySchemes", "security_schemes", FieldKind::map_of_messages, Stays::never, kSchemeFields},
    kRequirementsMember,
    {"defaultInputModes", "default_input_modes", FieldKind::texts, Stays::if_set, {}},
    {"defaultOutputModes", "default_output_modes", FieldKind::texts, Stays::if_set, {}},
    {"skills", {}, FieldKind::messages, Stays::if_set, kSkillFields},
    required_text("iconUrl", "icon_url")};

// Writes the members of a card that lf.a2a.v1 knows, without defaults, as a ProtoJSON library writes a card
// that it has read. Required members stay. Values of a wrong type are left out.
class NormalWriter {
 public:
  explicit NormalWriter(std::string& out) : out_(out) {}

  void write(Value message, std::span<const Field> members) {
    out_.object([&] {
      for (const Field& member : members) {
        Value value = message[member.name];
        if (value.absent() && !member.snake_name.empty()) value = message[member.snake_name];
        if (!value.absent()) write_member(value, member);
      }
    });
  }

 private:
  void write_member(Value value, const Field& member) {
    const bool stays = member.stays == Stays::if_set;
    switch (member.kind) {
      case FieldKind::text:
        if (value.is_string() && (stays || !value.string().empty())) out_.member(member.name, value.string());
        return;
      case FieldKind::flag:
        if (value.is_bool() && (stays || value.boolean())) out_.member(member.name, value.boolean());
        return;
      case FieldKind::texts:
        if (!value.is_array() || (!has_any(value, member) && !stays)) return;
        out_.key(member.name).array([&] {
          for (const Value each : value) {
            if (each.is_string()) out_.string(each.string());
          }
        });
        return;
      case FieldKind::message:
        if (!value.is_object()) return;
        out_.key(member.name);
        return write(value, member.of);
      case FieldKind::messages:
        if (!value.is_array() || (!has_any(value, member) && !stays)) return;
        out_.key(member.name).array([&] {
          for (const Value each : value) {
            if (each.is_object()) write(each, member.of);
          }
        });
        return;
      case FieldKind::map_of_messages:
      case FieldKind::map_of_texts:
        if (!value.is_object() || (!has_any(value, member) && !stays)) return;
        out_.key(member.name).object([&] {
          for (const Value each : value) write_entry(each, member);
        });
        return;
      case FieldKind::object:
        if (value.is_object()) out_.key(member.name).raw(value.raw());
    }
  }

  // Whether any of its values has the right type.
  static bool has_any(Value value, const Field& member) {
    const bool of_texts = member.kind == FieldKind::texts || member.kind == FieldKind::map_of_texts;
    for (const Value each : value) {
      if (of_texts ? each.is_string() : each.is_object()) return true;
    }
    return false;
  }

  void write_entry(Value entry, const Field& map) {
    if (map.kind == FieldKind::map_of_texts && entry.is_string()) out_.member(entry.key(), entry.string());
    if (map.kind != FieldKind::map_of_messages || !entry.is_object()) return;
    out_.key(entry.key());
    write(entry, map.of);
  }

  Writer out_;
};

std::string normal_text(Value card) {
  std::string text;
  NormalWriter(text).write(card, kCardFields);
  return text;
}

bool is_empty(Value value) {
  if (value.is_string()) return value.string().empty();
  return value.absent() || ((value.is_object() || value.is_array()) && value.size() == 0);
}

// The value without empty ones in it; nullopt if it is then empty itself.
std::optional<std::string> without_empty(Value value) {
  if (is_empty(value)) return std::nullopt;
  if (!value.is_object() && !value.is_array()) return std::string(value.raw());
  std::string text;
  Writer out(text);
  bool has_any = false;
  const auto write_kept = [&] {
    for (const Value each : value) {
      const auto kept = without_empty(each);
      if (!kept) continue;
      has_any = true;
      if (value.is_object()) out.key(each.key());
      out.raw(*kept);
    }
  };
  if (value.is_object()) {
    out.object(write_kept);
  } else {
    out.array(write_kept);
  }
  return has_any ? std::optional(text) : std::nullopt;
}

std::string without(std::string_view name, Value card) {
  std::string text;
  Writer out(text);
  out.object([&] {
    for (const Value member : card) {
      if (member.key() != name) out.key(member.key()).raw(member.raw());
    }
  });
  return text;
}

void find_empty(Value value, const std::string& pointer, std::vector<std::string>& found) {
  if (is_empty(value)) return found.push_back(pointer);
  std::size_t place = 0;
  for (const Value each : value) {
    if (value.is_object() && each.key() == kRequirements) continue;
    find_empty(each, pointer + "/" + (value.is_object() ? std::string(each.key()) : std::to_string(place++)),
               found);
  }
}

}  // namespace

std::string_view name_of(CardForm form) {
  // In the order of CardForm.
  constexpr std::array<std::string_view, 5> kNames{"as the specification says", "as a2a-js signs",
                                                   "as a2a-js signs, without its security schemes",
                                                   "as a2a-python signs", "of the card as it is"};
  return kNames[static_cast<std::size_t>(form)];
}

base::Result<std::string> canonical_card(Value card, CardForm form) {
  if (!card.is_object()) return base::fail(base::ErrorCode::invalid_argument, "the card is not an object");
  if (card.is_mended())
    return base::fail(base::ErrorCode::invalid_argument, "a text of the card has half a surrogate pair");
  std::string text = form == CardForm::as_sent ? without("signatures", card) : normal_text(card);
  if (form == CardForm::sdk_decoded) {
    const auto normal = json::Document::parse_view(text);
    if (!normal) return base::fail(normal.error());
    text = without("securitySchemes", normal->root());
  }
  if (form != CardForm::as_sent && form != CardForm::specification) {
    const auto normal = json::Document::parse_view(text);
    if (!normal) return base::fail(normal.error());
    text = without_empty(normal->root()).value_or("{}");
  }
  const auto document = json::Document::parse_view(text);
  if (!document) return base::fail(document.error());
  return json::canonical_json(document->root(),
                              form == CardForm::python ? json::Canonical::python : json::Canonical::jcs);
}

std::vector<std::string> empty_values(Value card) {
  std::vector<std::string> found;
  const std::string text = normal_text(card);
  const auto document = json::Document::parse_view(text);
  if (card.is_object() && document) find_empty(document->root(), "", found);
  return found;
}

}  // namespace baton::protocol
