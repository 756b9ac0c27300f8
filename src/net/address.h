// Which addresses outbound requests may go to. The check is made on the address that is dialled, not on the
// text of a URL: a name may resolve to anything, and to something else a moment later.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace baton::net {

struct Url;
struct WaitLimits;

// Closed by default, as for webhooks, whose targets callers name.
struct AddressPolicy {
  // Private, loopback, carrier-grade NAT, unspecified, multicast and reserved ranges, IPv4 and IPv6 (IPv4
  // inside IPv6 included).
  bool allow_private = false;
  // Link-local addresses and those at which clouds answer for their machines' metadata and credentials, also
  // where they lie in a private or public range. `allow_private` does not open these.
  bool allow_metadata = false;
  // Ports below 1024 other than 80 and 443: what listens there is seldom a receiver of webhooks.
  bool allow_low_ports = false;

  // For targets that the operator or the user of the command line names.
  static constexpr AddressPolicy any() { return {true, true, true}; }
};

// Whether an address in text form ("127.0.0.1", "::1") is public and no metadata service. False for what is
// not an address.
bool is_public_address(const std::string& address);
bool is_allowed_address(const std::string& address, const AddressPolicy& policy);

// What can be said of a target before its name is looked up: its port, an address in place of a name (in any
// form that the resolver reads, such as "127.1"), "localhost" and the names below it. Fails with
// permission_denied.
base::Result<void> check_target(const Url& url, const AddressPolicy& policy);

// Looks up the host of `url` within the limits and returns those of its addresses that the policy allows, in
// resolver order. Fails with permission_denied if the port or all addresses are forbidden, with unavailable
// if there are none, with deadline_exceeded.
base::Result<std::vector<std::string>> resolve_allowed(const Url& url, const AddressPolicy& policy,
                                                       const WaitLimits& limits);

}  // namespace baton::net
