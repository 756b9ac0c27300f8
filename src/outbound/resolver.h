// Resolver: name resolution with a deadline. The system's resolver may take half a minute when name servers
// do not answer, and cannot be interrupted; here callers wait only as long as their limits allow.
//
// Threads: any; `resolve` blocks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "outbound/socket.h"

namespace baton::outbound {

// The addresses of a host, without duplicates and in resolver order; never empty.
using Addresses = base::Result<std::vector<std::string>>;

class Resolver {
 public:
  // May block for any time. Called on the resolver's own threads.
  using Lookup = std::function<Addresses(const std::string& host)>;
  // Concurrent look-ups. The system gives up on a name after about 30 seconds, callers sooner: this is
  // several times the number of look-ups that all webhook senders together can leave behind.
  static constexpr std::size_t kLookupsMax = 256;

  explicit Resolver(Lookup lookup, std::size_t lookups_max = kLookupsMax);

  // Concurrent calls for the same name share one look-up. Fails with unavailable (no such name, too many
  // look-ups, or `stop_fd`) or deadline_exceeded.
  Addresses resolve(const std::string& host, const WaitLimits& limits) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the resolver
};

// Uses the system's resolver. An address in place of a name needs no look-up.
Addresses resolve(const std::string& host, const WaitLimits& limits);

// Returns the address in its usual form if `host` is an address; nullopt if it is a name.
std::optional<std::string> literal_address(const std::string& host);

}  // namespace baton::outbound
