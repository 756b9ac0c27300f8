// Which addresses outbound requests may go to. The check is made on the address that is dialled, not on the
// text of a URL: a name may resolve to anything, and to something else a moment later.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace baton::net {

struct AddressPolicy {
  // Private, loopback, link-local, carrier-grade NAT, unspecified, multicast and reserved ranges, IPv4 and
  // IPv6 (IPv4 inside IPv6 included). Off for webhooks unless the operator says otherwise.
  bool allow_private = false;
};

// Whether an address in text form ("127.0.0.1", "::1") is public. False for what is not an address.
bool is_public_address(const std::string& address);

// Looks up `host` and returns those of its addresses that the policy allows, in resolver order. Fails with
// permission_denied if it has addresses but none is allowed, with unavailable if it has none.
base::Result<std::vector<std::string>> resolve_allowed(const std::string& host, const AddressPolicy& policy);

}  // namespace baton::net
