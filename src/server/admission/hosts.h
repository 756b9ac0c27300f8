// Hosts: which host a request names, whether it is served here, and what trusted proxies report about the
// request.
//
// Checking the host prevents DNS rebinding: a page whose domain was made to resolve to this machine sends
// that domain as Host.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

#include "http/http_server.h"
#include "server/shared/options.h"

namespace baton::server {

// "localhost" and names below it, 127.0.0.0/8 and ::1, with or without a port. An IPv6 address may be in
// brackets.
bool is_loopback_host(std::string_view host);

// The unit for per-address limits: an IPv4 address, in whatever form, or the /64 network of an IPv6 address
// ("2001:db8::/64"), so that a client cannot evade a limit with other addresses of its network.
std::string network_of(std::string_view address);

// Whether the text is a host with an optional port.
bool is_host(std::string_view host);

// "host" of "host:80". Brackets are kept; an IPv6 address without brackets has no port.
std::string_view without_port(std::string_view host);

// The host of an http or https URL, with its port.
std::string_view host_in_url(std::string_view url);

// Whether an entry of ServerOptions::proxies is valid: an IP address, or a network like "10.0.0.0/8".
bool is_network(std::string_view text);

// The host the client named: X-Forwarded-Host behind a trusted proxy, else Host or gRPC's :authority. May be
// empty, and is unchecked text if any host is served.
std::string_view named_host(const ServerOptions& options, const http::Request& request);

// "https" if a trusted proxy says so, or says nothing and the listener speaks TLS; else "http".
std::string_view named_scheme(const ServerOptions& options, const http::Request& request);

// The URL of named_scheme and named_host, without a slash at its end. A port that is the scheme's usual one
// is left out, as browsers and URL parsers do; some proxies add it.
std::string named_url(const ServerOptions& options, const http::Request& request);

// The origin that browsers know this server by: that of public_url if the request names its host, else
// named_url.
std::string own_origin(const ServerOptions& options, const http::Request& request);

// Whether nobody else can read a cookie on its way there: https, or this machine.
bool is_safe_origin(std::string_view origin);

// The client's address: behind trusted proxies, the last one in X-Forwarded-For that is not a proxy.
std::string_view client_address(const ServerOptions& options, const http::Request& request);

// Whether the request's host is served here. A request without one is accepted: browsers always send one.
bool host_is_served(const ServerOptions& options, const http::Request& request);

}  // namespace baton::server
