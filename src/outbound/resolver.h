// Resolver: name resolution with a deadline. The system's resolver may take half a minute when name servers
// do not answer, and cannot be interrupted; here callers wait only as long as their limits allow.
//
// Threads: any; `resolve` blocks, `begin` does not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "outbound/wait_limits.h"

namespace baton::outbound {

// The addresses of a host, without duplicates and in resolver order; never empty.
using Addresses = base::Result<std::vector<std::string>>;

class Resolver {
 public:
  // A look-up that somebody waits for.
  class Waiting {
   public:
    virtual ~Waiting() = default;
    // Becomes readable once the look-up is over.
    virtual int fd() const = 0;
    // Fails with unavailable (no such name), or if it is not over.
    virtual Addresses result() const = 0;
  };

  // May block for any time. Called on the resolver's own threads.
  using Lookup = std::function<Addresses(const std::string& host)>;
  // Concurrent look-ups. The system gives up on a name after about 30 seconds, callers sooner: this is
  // several times the number of look-ups that all webhook senders together can leave behind.
  static constexpr std::size_t kLookupsMax = 256;

  explicit Resolver(Lookup lookup, std::size_t lookups_max = kLookupsMax);

  // Concurrent calls for the same name share one look-up. Fails with unavailable if there are too many.
  base::Result<std::unique_ptr<Waiting>> begin(const std::string& host) const;
  // Waits for the result. Fails with unavailable (no such name, too many look-ups, or `stop_fd`) or
  // deadline_exceeded.
  Addresses resolve(const std::string& host, const WaitLimits& limits) const;

 private:
  struct State;
  class Waiter;
  base::Result<std::unique_ptr<Waiter>> wait_on(const std::string& host) const;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the resolver
};

// These use the system's resolver. For `resolve`, an address in place of a name needs no look-up.
base::Result<std::unique_ptr<Resolver::Waiting>> begin_look_up(const std::string& host);
Addresses resolve(const std::string& host, const WaitLimits& limits);

// Returns the address in its usual form if `host` is an address; nullopt if it is a name.
std::optional<std::string> literal_address(const std::string& host);

}  // namespace baton::outbound
