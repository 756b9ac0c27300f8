#include "server/endpoint.h"

#include <algorithm>
#include <cctype>

namespace baton::server {
namespace {

bool all_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || more.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// A Host header goes into the card's URL: only what a host and a port are made of gets there.
bool is_host(std::string_view host) {
  constexpr std::size_t kHostMax = 255;
  if (host.empty() || host.size() > kHostMax) return false;
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const std::size_t name_end = bracket == std::string_view::npos ? host.find(':') : bracket + 1;
  const std::string_view name = host.substr(0, name_end);
  const std::string_view port = name_end < host.size() ? host.substr(name_end) : std::string_view();
  const bool name_good = bracket == std::string_view::npos ? !name.empty() && all_of(name, ".-_")
                                                           : all_of(name.substr(1, bracket - 1), ":.");
  const bool port_good = port.empty() || (port.size() > 1 && port.size() <= 6 && port[0] == ':' &&
                                          port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  return name_good && port_good;
}

// "http://host:8080/path": "host". A "[...]" keeps its brackets.
std::string_view host_in(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find('/'));
  const std::size_t bracket = url.starts_with('[') ? url.find(']') : std::string_view::npos;
  return bracket == std::string_view::npos ? url.substr(0, url.find(':')) : url.substr(0, bracket + 1);
}

// gRPC has no paths: its calls are for the default agent.
std::string grpc_address(const ServerOptions& options, std::string_view base, const Endpoint& endpoint) {
  if (!endpoint.is_default) return {};
  const bool has_host = !options.grpc_address.starts_with(':');
  return has_host ? options.grpc_address : std::string(host_in(base)) + options.grpc_address;
}

}  // namespace

CardUrls card_urls(const ServerOptions& options, const http::Request& request, const Endpoint& endpoint) {
  std::string base = options.public_url;
  if (base.empty()) {
    const std::string_view host = request.header("Host");
    base = is_host(host) ? "http://" + std::string(host) : std::string(endpoint.address);
  }
  const std::string grpc = grpc_address(options, base, endpoint);
  if (base.ends_with('/')) base.pop_back();
  if (!endpoint.at_root) base += std::string(kAgents) + endpoint.agent->name.value;
  return {base + "/", base, grpc};
}

}  // namespace baton::server
