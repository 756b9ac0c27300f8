#include "protocol/card/remote_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>

#include "base/text.h"
#include "protocol/card/remote_card.h"
#include "protocol/card/security.h"

namespace baton::protocol {
namespace {

using task::ProtocolVersion;
using Type = json::Value::Type;

// The versions that require a member.
struct Needed {
  ProtocolVersion from = ProtocolVersion::v0_1;
  ProtocolVersion to = ProtocolVersion::v1_0;
  bool never = false;
};
constexpr Needed kAlways{};
constexpr Needed kOptional{ProtocolVersion::v0_1, ProtocolVersion::v1_0, true};
constexpr Needed kSince0_2{ProtocolVersion::v0_2};
constexpr Needed kSince1_0{ProtocolVersion::v1_0};
constexpr Needed kUntil0_3{ProtocolVersion::v0_1, ProtocolVersion::v0_3};
constexpr Needed kOnly0_3{ProtocolVersion::v0_3, ProtocolVersion::v0_3};

struct Member {
  std::string_view name;
  Type type;
  Needed needed = kOptional;
};

constexpr std::array kCardMembers{
    Member{"name", Type::string, kAlways},
    Member{"description", Type::string, kSince0_2},
    Member{"url", Type::string, kUntil0_3},
    Member{"version", Type::string, kAlways},
    Member{"protocolVersion", Type::string, kOnly0_3},
    Member{"preferredTransport", Type::string, kOnly0_3},
    Member{"additionalInterfaces", Type::array},
    Member{"supportedInterfaces", Type::array, kSince1_0},
    Member{"capabilities", Type::object, kAlways},
    Member{"defaultInputModes", Type::array, kSince0_2},
    Member{"defaultOutputModes", Type::array, kSince0_2},
    Member{"skills", Type::array, kAlways},
    Member{"provider", Type::object},
    Member{"documentationUrl", Type::string},
    Member{"iconUrl", Type::string},
    Member{"authentication", Type::object},
    Member{"supportsAuthenticatedExtendedCard", Type::boolean},
    Member{"signatures", Type::array},
};
constexpr std::array kCapabilityMembers{
    Member{"streaming", Type::boolean},
    Member{"pushNotifications", Type::boolean},
    Member{"stateTransitionHistory", Type::boolean},
    Member{"extendedAgentCard", Type::boolean},
    Member{"extensions", Type::array},
};
constexpr std::array kExtensionMembers{
    Member{"uri", Type::string, kAlways},
    Member{"description", Type::string},
    Member{"required", Type::boolean},
    Member{"params", Type::object},
};
constexpr std::array kProviderMembers{
    Member{"organization", Type::string, kAlways},
    Member{"url", Type::string, kSince0_2},
};
constexpr std::array kAuthenticationMembers{
    Member{"schemes", Type::array, kAlways},
    Member{"credentials", Type::string},
};
constexpr std::array kSkillMembers{
    Member{"id", Type::string, kAlways},
    Member{"name", Type::string, kAlways},
    Member{"description", Type::string, kSince0_2},
    Member{"tags", Type::array, kSince0_2},
    Member{"examples", Type::array},
    Member{"inputModes", Type::array},
    Member{"outputModes", Type::array},
};
constexpr std::array kInterfaceMembers{
    Member{"url", Type::string, kAlways},
    Member{"protocolBinding", Type::string, kAlways},
    Member{"protocolVersion", Type::string, kAlways},
    Member{"tenant", Type::string},
};
constexpr std::array kOldInterfaceMembers{
    Member{"url", Type::string, kAlways},
    Member{"transport", Type::string, kAlways},
};
constexpr std::array kSignatureMembers{
    Member{"protected", Type::string, kAlways},
    Member{"signature", Type::string, kAlways},
};
// Lists of strings; the elements of all other lists are objects.
constexpr std::array<std::string_view, 7> kTexts{
    "defaultInputModes", "defaultOutputModes", "schemes", "tags", "examples", "inputModes", "outputModes"};

std::string_view name_of(Type type) {
  switch (type) {
    case Type::string:
      return "a string";
    case Type::object:
      return "an object";
    case Type::array:
      return "a list";
    default:
      return "true or false";
  }
}

bool is_web_url(std::string_view url) {
  return base::web_scheme(url) != 0;
}

class RemoteCheck {
 public:
  std::vector<json::SchemaProblem> run(json::Value card) {
    if (!card.is_object()) return {{"", "must be an object"}};
    versions_ = versions_of(card);
    check(card, "", kCardMembers);
    check(card["capabilities"], "/capabilities", kCapabilityMembers);
    check_each(card["capabilities"]["extensions"], "/capabilities/extensions", kExtensionMembers);
    check(card["provider"], "/provider", kProviderMembers);
    check(card["authentication"], "/authentication", kAuthenticationMembers);
    check_each(card["skills"], "/skills", kSkillMembers);
    check_each(card["signatures"], "/signatures", kSignatureMembers);
    check_each(card["supportedInterfaces"], "/supportedInterfaces", kInterfaceMembers);
    check_each(card["additionalInterfaces"], "/additionalInterfaces", kOldInterfaceMembers);
    check_places(card);
    for (json::SchemaProblem& found : check_security(card)) problems_.push_back(std::move(found));
    return std::move(problems_);
  }

 private:
  void problem(std::string pointer, std::string reason) {
    problems_.push_back({std::move(pointer), std::move(reason)});
  }

  bool is_needed(const Needed& needed) const {
    if (needed.never) return false;
    // A card that claims no version that Baton knows must still have the members that all versions require.
    if (versions_.empty()) return needed.from == ProtocolVersion::v0_1 && needed.to == ProtocolVersion::v1_0;
    return std::any_of(versions_.begin(), versions_.end(), [&](ProtocolVersion claimed) {
      return needed.from <= claimed && claimed <= needed.to;
    });
  }

  static std::string missing(const Needed& needed) {
    if (needed.from == ProtocolVersion::v0_1) return "is missing";
    return "is missing: required since " + std::string(protocol::name_of(needed.from));
  }

  void check(json::Value object, const std::string& pointer, std::span<const Member> members) {
    if (!object.is_object()) return;
    for (const Member& member : members) {
      const json::Value value = object[member.name];
      const std::string where = pointer + "/" + std::string(member.name);
      if (value.absent()) {
        if (is_needed(member.needed)) problem(where, missing(member.needed));
      } else if (value.type() != member.type) {
        problem(where, "must be " + std::string(name_of(member.type)));
      } else if (value.is_array()) {
        check_elements(value, where, member.name);
      } else if (value.is_string() && value.string().empty() && is_needed(member.needed)) {
        // Converters of 0.1 cards fill the members that 0.2 requires with empty texts.
        if (member.needed.from != ProtocolVersion::v0_2) problem(where, "is empty");
      }
    }
  }

  void check_elements(json::Value list, const std::string& pointer, std::string_view name) {
    const bool texts = std::find(kTexts.begin(), kTexts.end(), name) != kTexts.end();
    int index = 0;
    for (const json::Value item : list) {
      const bool right = texts ? item.is_string() : item.is_object();
      if (!right) {
        problem(pointer + "/" + std::to_string(index), texts ? "must be a string" : "must be an object");
      }
      ++index;
    }
  }

  void check_each(json::Value list, const std::string& pointer, std::span<const Member> members) {
    if (!list.is_array()) return;
    int index = 0;
    for (const json::Value item : list) check(item, pointer + "/" + std::to_string(index++), members);
  }

  void check_url(json::Value url, json::Value binding, const std::string& pointer) {
    // gRPC also uses host:port; other bindings have rules of their own.
    const std::string_view name = binding.string();
    const bool is_web = name.empty() || name == "JSONRPC" || name == "HTTP+JSON";
    if (!url.is_string() || url.string().empty() || !is_web) return;
    if (!is_web_url(url.string())) problem(pointer, "must be an absolute http or https URL");
  }

  // Checks the URLs of the agent.
  void check_places(json::Value card) {
    check_url(card["url"], card["preferredTransport"], "/url");
    const json::Value fresh = card["supportedInterfaces"];
    if (fresh.is_array() && fresh.size() == 0) problem("/supportedInterfaces", "is empty");
    if (fresh.is_array()) {
      int index = 0;
      for (const json::Value place : fresh) {
        const std::string pointer = "/supportedInterfaces/" + std::to_string(index++);
        check_url(place["url"], place["protocolBinding"], pointer + "/url");
      }
    }
    std::map<std::string_view, std::string_view> transports;
    const std::string_view preferred = card["preferredTransport"].string();
    transports[card["url"].string()] = preferred.empty() ? "JSONRPC" : preferred;
    if (!card["additionalInterfaces"].is_array()) return;
    int index = 0;
    for (const json::Value place : card["additionalInterfaces"]) {
      const std::string pointer = "/additionalInterfaces/" + std::to_string(index++);
      check_url(place["url"], place["transport"], pointer + "/url");
      const std::string_view transport = place["transport"].string();
      const auto [known, is_new] = transports.emplace(place["url"].string(), transport);
      if (!is_new && known->second != transport) {
        problem(pointer,
                "the same URL is already listed with another transport: " + std::string(known->second));
      }
    }
  }

  std::vector<ProtocolVersion> versions_;
  std::vector<json::SchemaProblem> problems_;
};

}  // namespace

std::vector<json::SchemaProblem> check_remote_card(json::Value card) {
  return RemoteCheck().run(card);
}

}  // namespace baton::protocol
