#include "protocol/card/remote_card.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "protocol/card/card.h"

namespace baton::protocol {
namespace {

using task::ProtocolVersion;

constexpr std::array<std::pair<Binding, std::string_view>, 3> kBindings{{
    {Binding::json_rpc, "JSONRPC"},
    {Binding::rest, "HTTP+JSON"},
    {Binding::grpc, "GRPC"},
}};
constexpr std::array<std::pair<ProtocolVersion, std::string_view>, 4> kVersions{{
    {ProtocolVersion::v0_1, "0.1"},
    {ProtocolVersion::v0_2, "0.2"},
    {ProtocolVersion::v0_3, "0.3"},
    {ProtocolVersion::v1_0, "1.0"},
}};

// An empty name means JSON-RPC: before 0.2.4 there was no other binding.
std::optional<Binding> read_binding(json::Value name) {
  if (name.string().empty()) return Binding::json_rpc;
  for (const auto& [binding, word] : kBindings) {
    if (base::same_word(name.string(), word)) return binding;
  }
  return std::nullopt;
}

// Reads a version by its first two numbers: "0.3.0" and "v0.3" are 0.3. Any version 1.x is treated as 1.0.
std::optional<ProtocolVersion> read_version(std::string_view said) {
  if (said.starts_with('v')) said.remove_prefix(1);
  if (said == "1" || said.starts_with("1.")) return ProtocolVersion::v1_0;
  for (const auto& [version, number] : kVersions) {
    const bool same = said.starts_with(number) && (said.size() == 3 || said[3] == '.');
    if (same) return version;
  }
  return std::nullopt;
}

bool has_any(json::Value object, std::initializer_list<std::string_view> members) {
  return std::any_of(members.begin(), members.end(),
                     [&](std::string_view member) { return !object[member].absent(); });
}

bool lacks_what_0_2_wants(json::Value card) {
  const auto lacks = [](json::Value object, std::initializer_list<std::string_view> members) {
    return std::any_of(members.begin(), members.end(),
                       [&](std::string_view member) { return object[member].absent(); });
  };
  if (lacks(card, {"description", "defaultInputModes", "defaultOutputModes"})) return true;
  if (card["provider"].is_object() && lacks(card["provider"], {"url"})) return true;
  for (const json::Value skill : card["skills"]) {
    if (lacks(skill, {"description", "tags"})) return true;
  }
  return false;
}

// Determines the version of a card without a version by its members: 0.2 added some and required others.
// Returns both versions if the card may be of either.
std::vector<ProtocolVersion> versions_by_members(json::Value card) {
  const bool says_0_2 = has_any(card, {"securitySchemes", "security", "supportsAuthenticatedExtendedCard",
                                       "iconUrl", "preferredTransport", "additionalInterfaces"}) ||
                        has_any(card["capabilities"], {"extensions"});
  if (says_0_2) return {ProtocolVersion::v0_2};
  if (lacks_what_0_2_wants(card) || has_any(card, {"authentication"})) return {ProtocolVersion::v0_1};
  return {ProtocolVersion::v0_1, ProtocolVersion::v0_2};
}

std::vector<ProtocolVersion> old_versions(json::Value card) {
  const std::string_view said = card["protocolVersion"].string();
  if (said.empty()) return versions_by_members(card);
  const auto version = read_version(said);
  return version ? std::vector{*version} : std::vector<ProtocolVersion>{};
}

// More interfaces than any server offers. There is a limit because each one is compared with those before it.
constexpr std::size_t kInterfacesMax = 100;

void add(RemoteCard& card, RemoteInterface found) {
  if (card.interfaces.size() >= kInterfacesMax) return;
  const bool known =
      std::find(card.interfaces.begin(), card.interfaces.end(), found) != card.interfaces.end();
  if (!known && !found.url.empty()) card.interfaces.push_back(std::move(found));
}

// An interface without a version may be of 1.0, as the Python SDK writes none if a program sets none, or of
// 0.3, which is what the SDKs take it for.
void read_new_interfaces(json::Value card, RemoteCard& read) {
  for (const json::Value item : card["supportedInterfaces"]) {
    const auto binding = read_binding(item["protocolBinding"]);
    const std::string_view said = item["protocolVersion"].string();
    const auto version = said.empty() ? ProtocolVersion::v1_0 : read_version(said);
    if (!binding || !version) continue;
    add(read, {item["url"].str(), *binding, *version, item["tenant"].str()});
    if (said.empty()) add(read, {item["url"].str(), *binding, ProtocolVersion::v0_3, item["tenant"].str()});
  }
}

void read_old_interfaces(json::Value card, RemoteCard& read) {
  auto versions = old_versions(card);
  // The SDKs take a card of this form for one of 0.3, whatever it says.
  if (versions == std::vector{ProtocolVersion::v1_0})
    versions.insert(versions.begin(), ProtocolVersion::v0_3);
  std::reverse(versions.begin(), versions.end());
  for (const ProtocolVersion version : versions) {
    const auto preferred = read_binding(card["preferredTransport"]);
    if (preferred) add(read, {card["url"].str(), *preferred, version, {}});
    if (!card["additionalInterfaces"].is_array()) continue;
    for (const json::Value item : card["additionalInterfaces"]) {
      const auto binding = read_binding(item["transport"]);
      if (binding) add(read, {item["url"].str(), *binding, version, {}});
    }
  }
}

void mend_modes(std::vector<std::string>& modes) {
  std::replace(modes.begin(), modes.end(), std::string("text"), std::string("text/plain"));
}

bool will_do(const InterfaceWish& wish, Binding binding) {
  return std::find(wish.bindings.begin(), wish.bindings.end(), binding) != wish.bindings.end();
}

std::optional<RemoteInterface> first_of(const RemoteCard& card, ProtocolVersion version,
                                        const InterfaceWish& wish) {
  for (const RemoteInterface& place : card.interfaces) {
    if (place.version == version && will_do(wish, place.binding)) return place;
  }
  return std::nullopt;
}

std::optional<RemoteInterface> undeclared(const RemoteCard& card, ProtocolVersion version,
                                          const InterfaceWish& wish) {
  if (!will_do(wish, Binding::json_rpc)) return std::nullopt;
  for (const auto& [oldest, _] : kVersions) {
    auto place = first_of(card, oldest, {std::nullopt, {Binding::json_rpc}});
    if (!place) continue;
    place->version = version;
    return place;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Binding binding) {
  return kBindings[static_cast<std::size_t>(binding)].second;
}

std::string_view name_of(task::ProtocolVersion version) {
  return kVersions[static_cast<std::size_t>(version)].second;
}

std::optional<task::ProtocolVersion> version_named(std::string_view name) {
  const auto* found = std::ranges::find(kVersions, name, &decltype(kVersions)::value_type::second);
  return found == kVersions.end() ? std::nullopt : std::optional(found->first);
}

std::vector<task::ProtocolVersion> versions_of(json::Value card) {
  std::vector<ProtocolVersion> found;
  const bool is_new = !card["supportedInterfaces"].absent();
  if (!is_new || !card["url"].absent()) found = old_versions(card);
  const bool is_there = std::find(found.begin(), found.end(), ProtocolVersion::v1_0) != found.end();
  if (is_new && !is_there) found.push_back(ProtocolVersion::v1_0);
  return found;
}

RemoteCard read_remote_card(json::Value card) {
  RemoteCard read;
  read.card = read_card(card);
  mend_modes(read.card.default_input_modes);
  mend_modes(read.card.default_output_modes);
  for (task::Skill& skill : read.card.skills) {
    mend_modes(skill.input_modes);
    mend_modes(skill.output_modes);
  }
  const json::Value capabilities = card["capabilities"];
  read.streaming = capabilities["streaming"].boolean();
  read.push = capabilities["pushNotifications"].boolean();
  read.extended =
      capabilities["extendedAgentCard"].boolean() || card["supportsAuthenticatedExtendedCard"].boolean();
  if (card["supportedInterfaces"].is_array()) read_new_interfaces(card, read);
  if (read.interfaces.empty()) read_old_interfaces(card, read);
  return read;
}

base::Result<RemoteCard> read_remote_card(std::string_view json) {
  const auto document = json::Document::parse_view(base::without_mark(json));
  if (!document) return base::fail(document.error());
  if (!document->root().is_object()) {
    return base::fail(base::ErrorCode::invalid_argument, "the card must be an object");
  }
  return read_remote_card(document->root());
}

std::optional<RemoteInterface> pick(const RemoteCard& card, const InterfaceWish& wish) {
  for (auto version = kVersions.rbegin(); version != kVersions.rend(); ++version) {
    if (wish.version && *wish.version != version->first) continue;
    if (auto place = first_of(card, version->first, wish)) return place;
  }
  if (wish.version == ProtocolVersion::v0_1 || wish.version == ProtocolVersion::v0_2) {
    return undeclared(card, *wish.version, wish);
  }
  return std::nullopt;
}

}  // namespace baton::protocol
