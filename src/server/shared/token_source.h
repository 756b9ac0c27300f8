// TokenSource: tokens that are not in the configuration: those of authorization servers, and API keys.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "server/shared/scopes.h"

namespace baton::server {

struct Token;
using TokenPtr = std::shared_ptr<const Token>;  // a source drops it while requests still use it

// Threads: any. No function blocks.
class TokenSource {
 public:
  // One of three: `token` is the token; `is_pending`, what decides is being fetched; or it is not valid.
  struct Found {
    TokenPtr token = nullptr;
    bool is_pending = false;
    std::string reason = {};  // why it is not valid, for the log; empty: the source does not know such tokens
    std::optional<base::Timestamp> until = {};  // the end of `token`; nullopt: it has none
  };

  virtual ~TokenSource() = default;
  // `secret`: as the client sent it.
  virtual Found find(std::string_view secret) = 0;
  // Whether `find` only looks the token up. Otherwise it checks signatures, which takes longer.
  virtual bool is_quick(std::string_view /*secret*/) { return true; }
  // The token with this id, as long as it is valid; null if there is none, or this source's have no ids.
  virtual TokenPtr named(std::string_view /*id*/) const { return nullptr; }
  enum class Wait {
    none,   // there is nothing to wait for
    begun,  // `done` will be called
    full,   // too many tokens wait
  };
  // Checks the token's signature on another thread, waits at most two seconds for keys that are being
  // fetched, and calls `done` from any thread; `find` is then quick. The networks that send tokens take
  // turns. `from`: the one that sent this token (network_of).
  virtual Wait await(std::string_view secret, const std::string& from, std::function<void()> done) = 0;
  // An authorization server, as clients that look for one need to know it.
  struct Issuer {
    std::string url;
    std::string scope_prefix;  // of the names of scopes there
    std::string rules = {};    // differs if what its tokens mean or who is accepted differs
    Scopes granted = {};       // the scopes of each of its tokens, so that no client needs to ask for them
  };
  virtual std::vector<Issuer> issuers() const = 0;
};

}  // namespace baton::server
