// Hosts: which host a request names and whether it is served here, and what trusted proxies say of the
// request.
//
// Checking the host ends DNS rebinding: a page whose own name was made to resolve to this machine sends that
// name as Host.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server {

// "localhost" and names below it, 127.0.0.0/8 and ::1, with or without a port. An IPv6 address may be in
// brackets.
bool is_loopback_host(std::string_view host);

// What a stranger has at least: an IPv4 address, or the network of 64 bits around an IPv6 address
// ("2001:db8::/64"). Counts are kept by it, so that nobody escapes them with more addresses of the same
// network.
std::string network_of(std::string_view address);

// Whether the text is a host and perhaps a port, and nothing else.
bool is_host(std::string_view host);

// "host:80": "host". An address in brackets keeps them; one of IPv6 without brackets has no port.
std::string_view without_port(std::string_view host);

// The host of an http or https URL, with its port.
std::string_view host_in_url(std::string_view url);

// Whether an entry of ServerOptions::proxies can be understood: an IP address, or a network as "10.0.0.0/8".
bool is_network(std::string_view text);

// The host the client named: of a gRPC call its :authority, behind a trusted proxy X-Forwarded-Host. May be
// empty, and anything at all where any host is served.
std::string_view named_host(const ServerOptions& options, const http::Request& request);

// "https" where a trusted proxy says that the client used it, else "http".
std::string_view named_scheme(const ServerOptions& options, const http::Request& request);

// The client's address: behind trusted proxies the last one in X-Forwarded-For that is not a proxy.
std::string_view client_address(const ServerOptions& options, const http::Request& request);

// Whether the request names a host that is served here. One that names none does: browsers always name one.
bool host_is_served(const ServerOptions& options, const http::Request& request);

}  // namespace baton::server
