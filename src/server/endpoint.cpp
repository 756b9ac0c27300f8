#include "server/endpoint.h"

#include "server/hosts.h"

namespace baton::server {
namespace {

// gRPC has no paths: its calls are for the default agent.
std::string grpc_address(const ServerOptions& options, std::string_view base, const Endpoint& endpoint) {
  if (!endpoint.is_default) return {};
  const bool has_host = !options.grpc_address.starts_with(':');
  return has_host ? options.grpc_address
                  : std::string(without_port(host_in_url(base))) + options.grpc_address;
}

}  // namespace

CardUrls card_urls(const ServerOptions& options, const http::Request& request, const Endpoint& endpoint) {
  std::string base = options.public_url;
  if (base.empty()) {
    // A gRPC call names gRPC's address, which does not serve the card's URLs.
    const bool is_grpc = !request.header(":authority").empty();
    const std::string_view host = is_grpc ? std::string_view() : named_host(options, request);
    base = is_host(host) ? std::string(named_scheme(options, request)) + "://" + std::string(host)
                         : std::string(endpoint.address);
  }
  const std::string grpc = grpc_address(options, base, endpoint);
  if (base.ends_with('/')) base.pop_back();
  if (!endpoint.at_root) base += std::string(kAgents) + endpoint.agent->name.value;
  return {base + "/", base, grpc};
}

}  // namespace baton::server
