#include "protocol/card/views.h"

#include <algorithm>
#include <string_view>

#include "json/writer.h"
#include "protocol/a2a/baton_extension.h"
#include "protocol/card/security.h"

namespace baton::protocol {
namespace {

// The scheme of Baton's own tokens.
constexpr const char* kBearer = "bearer";
constexpr const char* kKey = "apiKey";
// The schemes of authorization servers: openId, openId2 and so on.
const std::string kOpenId = "openId";

// The part of a card that depends on the caller.
struct Shown {
  std::string_view description;
  std::vector<const task::Skill*> skills;
  std::vector<task::SecurityScheme> schemes;
  std::vector<task::SecurityRequirement> security;
};

std::vector<const task::Skill*> skills_of(const ServedCard& served) {
  std::vector<const task::Skill*> skills;
  for (const task::Skill& skill : served.card.skills) skills.push_back(&skill);
  if (!served.extended || !served.card.extended) return skills;
  for (const task::Skill& skill : served.card.extended->skills) {
    const auto same = std::find_if(skills.begin(), skills.end(),
                                   [&](const task::Skill* other) { return other->id == skill.id; });
    if (same == skills.end()) {
      skills.push_back(&skill);
    } else {
      *same = &skill;
    }
  }
  return skills;
}

Shown shown_of(const ServedCard& served) {
  Shown shown{served.card.description, skills_of(served), served.card.security_schemes, served.card.security};
  const auto& extended = served.card.extended;
  if (served.extended && extended && !extended->description.empty())
    shown.description = extended->description;
  if (!shown.schemes.empty() || served.bearer == ServedCard::Bearer::none) return shown;
  task::SecurityScheme& own = shown.schemes.emplace_back();
  own.name = kBearer;
  own.kind = task::SecurityScheme::Kind::http;
  own.scheme = kBearer;
  if (!served.key_header.empty()) {
    task::SecurityScheme& key = shown.schemes.emplace_back();
    key.name = kKey;
    key.kind = task::SecurityScheme::Kind::api_key;
    key.location = "header";
    key.parameter = served.key_header;
  }
  for (int place = 1; const std::string& url : served.discovery_urls) {
    task::SecurityScheme& issuer = shown.schemes.emplace_back();
    issuer.name = kOpenId + (place == 1 ? "" : std::to_string(place));
    ++place;
    issuer.kind = task::SecurityScheme::Kind::open_id_connect;
    issuer.connect_url = url;
  }
  if (served.bearer != ServedCard::Bearer::required) return shown;
  for (const task::SecurityScheme& each : shown.schemes) shown.security.push_back({{each.name, {}}});
  return shown;
}

class CardWriter {
 public:
  CardWriter(std::string& out, const ServedCard& served, CardView view)
      : out_(out), served_(served), card_(served.card), shown_(shown_of(served)), view_(view) {}

  void write() {
    out_.object([&] {
      if (is_old()) out_.member("protocolVersion", "0.3.0");
      out_.member("name", card_.name).member("description", shown_.description);
      if (is_old()) write_old_interfaces();
      if (is_new()) write_interfaces();
      write_provider();
      out_.member("version", card_.version.empty() ? "1" : card_.version);
      out_.optional("documentationUrl", card_.documentation_url).optional("iconUrl", card_.icon_url);
      write_capabilities();
      if (view_ == CardView::superset) write_authentication();
      write_security_schemes(out_, shown_.schemes, view_);
      write_requirements(out_, shown_.security, view_);
      // Left out when false, as the SDKs do.
      if (is_old() && offers_extended()) out_.member("supportsAuthenticatedExtendedCard", true);
      write_modes("defaultInputModes", card_.default_input_modes);
      write_modes("defaultOutputModes", card_.default_output_modes);
      out_.key("skills").array([&] {
        for (const task::Skill* skill : shown_.skills) write_skill(*skill);
      });
    });
  }

 private:
  bool is_old() const { return view_ != CardView::v1_0; }
  bool is_new() const { return view_ != CardView::v0_3_rest; }

  template <class F>
  void for_each_binding(F&& write) {
    if (!served_.json_rpc_url.empty()) write("JSONRPC", served_.json_rpc_url);
    if (!served_.rest_url.empty()) write("HTTP+JSON", served_.rest_url);
    if (!served_.grpc_url.empty()) write("GRPC", served_.grpc_url);
  }

  // The main URL is among the additional ones, as 0.3 recommends.
  void write_old_interfaces() {
    out_.member("url", served_.json_rpc_url).member("preferredTransport", "JSONRPC");
    out_.key("additionalInterfaces").array([&] {
      for_each_binding([&](std::string_view binding, const std::string& url) {
        out_.object([&] { out_.member("url", url).member("transport", binding); });
      });
    });
  }

  // Writes each binding twice, because converters to 0.3 need an interface of 0.3. The order is the
  // preference, so the newest version comes first.
  void write_interfaces() {
    out_.key("supportedInterfaces").array([&] {
      for (const std::string_view version : {"1.0", "0.3"}) {
        for_each_binding([&](std::string_view binding, const std::string& url) {
          out_.object([&] {
            out_.member("url", url).member("protocolBinding", binding).member("protocolVersion", version);
          });
        });
      }
    });
  }

  // The URL is required since 0.2.
  void write_provider() {
    if (!card_.provider) return;
    out_.key("provider").object([&] {
      out_.member("organization", card_.provider->organization).member("url", card_.provider->url);
    });
  }

  // The modes of a remote agent may not be known yet. Clients need at least one.
  void write_modes(std::string_view member, const std::vector<std::string>& modes) {
    out_.key(member).strings(modes.empty() ? std::vector<std::string>{"text/plain"} : modes);
  }

  bool offers_extended() const { return card_.extended && served_.has_callers; }

  void write_capabilities() {
    out_.key("capabilities").object([&] {
      out_.member("streaming", card_.streaming).member("pushNotifications", served_.push && card_.push);
      if (view_ == CardView::superset) out_.member("stateTransitionHistory", false);
      if (is_new() && offers_extended()) out_.member("extendedAgentCard", true);
      write_extensions();
    });
  }

  // The agent's extensions, and Baton's own. A copy of a card that Baton serves has that, too.
  void write_extensions() {
    out_.key("extensions").array([&] {
      for (const task::Extension& extension : card_.extensions) {
        if (extension.uri == kBatonExtension) continue;
        out_.object([&] {
          out_.member("uri", extension.uri).optional("description", extension.description);
          if (extension.required) out_.member("required", true);
          out_.optional("params", extension.params);
        });
      }
      out_.object([&] {
        out_.member("uri", kBatonExtension).member("description", kBatonExtensionText);
        out_.key("params").raw(kBatonExtensionParams);
      });
    });
  }

  // Writes the required schemes in the form that 0.1 has in place of security schemes.
  void write_authentication() {
    std::vector<std::string> words;
    for (const task::SecurityScheme& scheme : shown_.schemes) {
      const bool wanted = std::any_of(shown_.security.begin(), shown_.security.end(), [&](const auto& needs) {
        return std::any_of(needs.begin(), needs.end(),
                           [&](const auto& need) { return need.first == scheme.name; });
      });
      if (wanted) words.emplace_back(scheme_word(scheme));
    }
    if (words.empty()) return;
    out_.key("authentication").object([&] { out_.key("schemes").strings(words); });
  }

  void write_skill(const task::Skill& skill) {
    out_.object([&] {
      out_.member("id", skill.id).member("name", skill.name).member("description", skill.description);
      out_.key("tags").strings(skill.tags);
      out_.optional("examples", skill.examples);
      out_.optional("inputModes", skill.input_modes);
      out_.optional("outputModes", skill.output_modes);
      write_requirements(out_, skill.security, view_);
    });
  }

  json::Writer out_;
  const ServedCard& served_;
  const task::AgentCard& card_;
  const Shown shown_;
  const CardView view_;
};

}  // namespace

std::string write_card(const ServedCard& served, CardView view) {
  std::string text;
  CardWriter(text, served, view).write();
  return text;
}

}  // namespace baton::protocol
