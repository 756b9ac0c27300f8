#include "server/a2a/negotiation.h"

#include <algorithm>
#include <array>

#include "http/http_text.h"
#include "protocol/a2a/baton_extension.h"
#include "protocol/card/remote_card.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using base::fail;
using task::ProtocolVersion;

constexpr std::string_view kOldExtensions = "X-A2A-Extensions";  // until 0.3

std::string_view without_patch(std::string_view version) {
  const std::size_t first = version.find('.');
  const std::size_t second = first == std::string_view::npos ? first : version.find('.', first + 1);
  return version.substr(0, second);
}

}  // namespace

base::Result<std::optional<ProtocolVersion>> version_of(const http::Request& request) {
  std::string_view asked = http::trimmed(request.header("A2A-Version"));
  if (asked.empty()) {
    for (const auto& [name, value] : request.query) {
      if (name == "A2A-Version") asked = http::trimmed(value);
    }
  }
  if (asked.empty()) return std::nullopt;
  if (const auto spoken = protocol::version_named(without_patch(asked))) return spoken;
  return fail(ErrorCode::version_not_supported, "A2A-Version: 0.1, 0.2, 0.3 and 1.0 are supported");
}

Extensions extensions_of(const http::Request& request, const task::AgentCard& card) {
  Extensions extensions;
  extensions.header = "A2A-Extensions";
  std::vector<std::string_view> asked;
  for (const auto& [name, value] : request.headers) {
    if (!http::same_word(name, "A2A-Extensions") && !http::same_word(name, kOldExtensions)) continue;
    std::string_view list = value;
    while (!list.empty()) {
      if (const auto uri = http::next_member(list); !uri.empty()) asked.push_back(uri);
    }
  }
  if (request.header("A2A-Extensions").empty() && !asked.empty()) extensions.header = kOldExtensions;
  const auto asks_for = [&](std::string_view uri) {
    return std::find(asked.begin(), asked.end(), uri) != asked.end();
  };
  extensions.numbers = card.streaming && asks_for(protocol::kBatonExtension);
  for (const task::Extension& extension : card.extensions) {
    const bool wanted = asks_for(extension.uri);
    if (wanted) extensions.active.push_back(extension.uri);
    if (!wanted && extension.required) extensions.missing = extension.uri;
  }
  return extensions;
}

bool is_json(const http::Request& request) {
  const std::string_view type = http::media_type(request.header("Content-Type"));
  return http::same_word(type, "application/json") || http::same_word(type, "application/a2a+json");
}

}  // namespace baton::server::a2a
