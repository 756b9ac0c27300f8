// Peer: what a client's certificate says, which TLS has verified.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace baton::http::tls {

struct Peer {
  std::vector<std::string> names;  // "DNS:name", "URI:spiffe://domain/path" or "email:address"
  std::chrono::sys_seconds ends = std::chrono::sys_seconds::max();  // max: not known, as over gRPC

  friend bool operator==(const Peer&, const Peer&) = default;
};

}  // namespace baton::http::tls
