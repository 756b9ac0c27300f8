// Proxy: the HTTP proxy that calls go through. Only a setting or a card names one, never variables such as
// http_proxy.
//
// The proxy resolves the names of servers, so its rules decide about their addresses; the check of
// outbound/address.h sees only names. Names and addresses that can only be local are refused here all the
// same. Threads: pure functions, but for the reading of the secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "outbound/address.h"

namespace baton::outbound {

struct Url;

struct Proxy {
  std::string url;                  // "http://host:port"; empty: calls are direct
  std::string secret_env;           // the variable that holds "user:password" for it; empty: none
  std::vector<std::string> except;  // hosts that are called directly; ".example.org": all below it

  // Returns whether calls to `target` go through the proxy: never those to this machine.
  bool serves(const Url& target) const;
  // Returns the value of Proxy-Authorization (RFC 7617), or an empty string. Reads the variable anew.
  std::string authorization() const;
};

// Returns why a setting names no usable proxy; empty if it does.
std::string proxy_problem(const std::string& url);

// Like check_target. If the proxy serves the target, and so resolves its name, names that no public host has,
// such as "printer" and "db.internal", are refused, too, unless the policy allows private addresses. So are
// IPv4 addresses in unusual forms, such as "010.0.0.7", which the proxy may read as another address.
base::Result<void> check_target(const Url& target, const AddressPolicy& policy, const Proxy& proxy);

// Returns the request that makes the proxy connect to the target (RFC 9110, 9.3.6). `authorization`: as
// above.
std::string tunnel_request(const Url& target, const std::string& authorization);
// Returns whether `answer`, the part of the proxy's answer that has arrived, opens the tunnel; false: more
// must be read. Fails with permission_denied if the proxy refuses, with unavailable if it does not reach the
// target.
base::Result<bool> opens_tunnel(std::string_view answer);
// The answer of a proxy that ends the connection.
base::Error no_tunnel();

}  // namespace baton::outbound
