// Address policy: the addresses that outbound requests may reach. The check is made on the address that is
// dialled, not on the text of a URL, because a name may resolve to any address, and to another one a moment
// later.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace baton::outbound {

struct Url;
struct WaitLimits;

// Closed by default, for webhooks, whose targets are chosen by callers.
struct AddressPolicy {
  // Private, loopback, carrier-grade NAT, unspecified, multicast and reserved ranges, IPv4 and IPv6 (IPv4
  // inside IPv6 included).
  bool allow_private = false;
  // Link-local addresses and the metadata services of clouds, which hand out the machine's credentials, even
  // inside a private or public range. `allow_private` does not open these.
  bool allow_metadata = false;
  // Ports below 1024 other than 80 and 443, which receivers of webhooks seldom use.
  bool allow_low_ports = false;
  // Loopback addresses of this machine, for servers in development. `allow_private` opens them, too.
  bool allow_loopback = false;

  // For targets chosen by the operator or by the user of the command line.
  static constexpr AddressPolicy any() { return {true, true, true}; }

  friend bool operator==(const AddressPolicy&, const AddressPolicy&) = default;
};

// Returns true if an address in text form ("127.0.0.1", "::1") is public and not a metadata service. Returns
// false if the text is not an address.
bool is_public_address(const std::string& address);
bool is_allowed_address(const std::string& address, const AddressPolicy& policy);

// Returns true for loopback addresses, "localhost" and its subdomains.
bool is_this_machine(const std::string& host);

// Checks a target before its name is resolved: the port, an address in place of a name (in any form that the
// resolver accepts, such as "127.1"), and "localhost" and its subdomains. Fails with permission_denied.
base::Result<void> check_target(const Url& url, const AddressPolicy& policy);

// Returns those of a host's addresses that the policy allows, in their order. Fails with permission_denied if
// there are none.
base::Result<std::vector<std::string>> allowed_of(std::vector<std::string> addresses,
                                                  const AddressPolicy& policy);

// Resolves the host of `url` within the limits and returns the addresses that the policy allows, in resolver
// order. Fails with permission_denied if the port or all addresses are forbidden, with unavailable if there
// are no addresses, or with deadline_exceeded.
base::Result<std::vector<std::string>> resolve_allowed(const Url& url, const AddressPolicy& policy,
                                                       const WaitLimits& limits);

}  // namespace baton::outbound
