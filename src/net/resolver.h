// Name resolution with a deadline. The system's resolver may take half a minute for a name whose servers keep
// silent, and cannot be told to stop; here the caller waits no longer than it wants to.
//
// Threads: any; `resolve` blocks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/socket.h"

namespace baton::net {

// The addresses of a host, each once, in resolver order; never none.
using Addresses = base::Result<std::vector<std::string>>;

class Resolver {
 public:
  // Blocks for as long as it takes. Runs on threads of the resolver's.
  using Lookup = std::function<Addresses(const std::string& host)>;
  // Look-ups at the same time. The system gives up on a name after about 30 seconds, those who ask after
  // fewer: this is several times what all senders of webhooks together can leave behind.
  static constexpr std::size_t kLookupsMax = 256;

  explicit Resolver(Lookup lookup, std::size_t lookups_max = kLookupsMax);

  // Everybody who asks for a name that is being looked up waits for the same look-up. Fails with unavailable
  // (no such name, too many look-ups, told to stop), deadline_exceeded.
  Addresses resolve(const std::string& host, const WaitLimits& limits) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the resolver
};

// By the system's resolver. An address in place of a name needs no look-up.
Addresses resolve(const std::string& host, const WaitLimits& limits);

// The address that `host` spells, in its usual form, if it is no name.
std::optional<std::string> literal_address(const std::string& host);

}  // namespace baton::net
