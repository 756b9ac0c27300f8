#include "server/grpc/call_head.h"

#include <algorithm>
#include <array>

#include "http/http_text.h"

namespace baton::server::grpc {
namespace {

using base::ErrorCode;

// The metadata that the pipeline sees; the rest belongs to the connection.
constexpr std::array<std::string_view, 9> kHeaders{":authority",     "authorization",    "a2a-version",
                                                   "a2a-extensions", "x-a2a-extensions", "last-event-id",
                                                   "traceparent",    "tracestate",       "user-agent"};

base::Result<std::string> agent_path(const Metadata& metadata, std::string_view agent) {
  for (const auto& [name, value] : metadata) {
    if (name == "baton-agent" && !value.empty()) agent = value;
  }
  if (agent.empty()) {
    return base::fail(ErrorCode::not_found,
                      "there is no default agent: name one in the metadata baton-agent");
  }
  if (agent.find('/') != std::string_view::npos) return base::fail(ErrorCode::not_found, "agent not found");
  return "/agents/" + std::string(agent);
}

}  // namespace

base::Result<http::Request> head_of(const Metadata& metadata, std::string_view agent,
                                    std::string_view key_header) {
  auto path = agent_path(metadata, agent);
  if (!path) return base::fail(path.error());
  http::Request request;
  request.method = "POST";
  request.path = request.raw_path = std::move(*path);
  for (const auto& [name, value] : metadata) {
    const bool passed_on = std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end() ||
                           http::same_word(name, key_header);
    if (passed_on) request.headers.emplace_back(name, value);
  }
  return request;
}

}  // namespace baton::server::grpc
