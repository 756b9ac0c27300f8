#include "protocol/discovery/server_card.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/one_line.h"
#include "json/writer.h"
#include "protocol/mcp/mcp.h"

namespace baton::protocol::discovery {
namespace {

using json::Value;
using json::Writer;

constexpr std::string_view kSchema =
    "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
constexpr std::size_t kCardNameMin = 3, kCardNameMax = 200, kCardTextMax = 100,
                      kVersionMax = 255;  // code points

// "com.example" for "example.com".
std::string reversed(std::string_view host) {
  std::string name;
  while (true) {
    const std::size_t dot = host.rfind('.');
    name += (name.empty() ? "" : ".") + std::string(host.substr(dot + 1));  // npos + 1: all
    if (dot == std::string_view::npos) return name;
    host = host.substr(0, dot);
  }
}

// <reverse domain>/<name>
bool is_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  if (text.size() < kCardNameMin || text.size() > kCardNameMax) return false;
  const auto fits = [](bool is_domain) {
    return [is_domain](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
             (c == '_' && !is_domain);
    };
  };
  return std::ranges::all_of(text.substr(0, slash), fits(true)) &&
         std::ranges::all_of(text.substr(slash + 1), fits(false));
}

}  // namespace

std::string write_server_card(const ServerCard& card) {
  const std::string title = base::shortened(base::one_line(card.title), kCardTextMax);
  std::string description = base::shortened(base::one_line(card.description), kCardTextMax);
  if (description.empty()) description = title.empty() ? card.name : title;
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("$schema", kSchema).member("name", reversed(card.publisher) + "/" + card.name);
    out.member("version", base::shortened(base::one_line(card.version), kVersionMax));
    out.member("description", description).optional("title", title);
    out.key("remotes").array([&] {
      out.object([&] {
        out.member("type", "streamable-http").member("url", card.url);
        out.key("supportedProtocolVersions").strings(mcp::versions());
      });
    });
  });
  return text;
}

std::vector<CatalogProblem> check_server_card(Value root) {
  std::vector<CatalogProblem> found;
  if (!root.is_object()) return {CatalogProblem{"", "must be an object"}};
  const auto check_text = [&](const char* member, std::size_t length_max, bool is_required) {
    const Value text = root[member];
    const std::string place = std::string("/") + member;
    if (text.missing() && !is_required) return;
    const bool is_text = text.is_string() && (!is_required || !text.string().empty());
    if (!is_text) found.push_back({place, text.missing() ? "is missing" : "must be a text"});
    if (is_text && base::length_of(text.string()) > length_max)
      found.push_back({place, "is longer than " + std::to_string(length_max) + " characters"});
  };
  if (root["$schema"].string() != kSchema)
    found.push_back({"/$schema", "should be " + std::string(kSchema), false});
  if (!is_name(root["name"].string()))
    found.push_back({"/name", "must be a domain, its parts in reverse, a slash and a name"});
  check_text("version", kVersionMax, true);
  check_text("description", kCardTextMax, true);
  check_text("title", kCardTextMax, false);
  std::size_t index = 0;
  for (const Value remote : root["remotes"]) {
    const std::string place = "/remotes/" + std::to_string(index++);
    constexpr std::array<std::string_view, 2> kTypes{"streamable-http", "sse"};
    if (std::ranges::find(kTypes, remote["type"].string()) == kTypes.end())
      found.push_back({place + "/type", "must be streamable-http or sse"});
    if (remote["url"].string().empty()) found.push_back({place + "/url", "is missing"});
  }
  if (index == 0) found.push_back({"/remotes", "names no server", false});
  return found;
}

}  // namespace baton::protocol::discovery
