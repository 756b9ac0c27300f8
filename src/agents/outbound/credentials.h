// Credentials: what shows to an agent elsewhere who calls: a secret, or a token that is had for one (OAuth 2
// client credentials, RFC 6749 section 4.4). Never a caller's own.
//
// The secret is read anew each time, so that it may change. A token is kept until shortly before it expires,
// and had by one thread at a time; the others wait for it. The client's secret goes to the token endpoint
// only. Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agents/outbound/outbound.h"
#include "agents/settings.h"
#include "base/secret_mask.h"
#include "client/endpoint.h"

namespace baton::agents {

class Credentials {
 public:
  using Token = tl::expected<std::string, client::CallError>;

  Credentials(Endpoint endpoint, OutboundRules rules);

  bool wanted() const { return endpoint_.auth != Endpoint::Auth::none; }
  // Whether the secret is wanted and not there.
  bool missing() const;

  // The secret or token; empty if none is wanted, or an optional one is not there. May block. `stop_fd`,
  // `despite_breaker`: see http::outbound::HttpRequest.
  Token find(int stop_fd, bool despite_breaker);
  // The other side has refused this token: returns whether `find` will have another one.
  bool renew(const std::string& token);

  // Hides what the other side was lately sent to show who calls, in what it answers: secrets and tokens,
  // those that are no longer good included, and long values in its URL's query. Null: nothing was.
  std::shared_ptr<const base::SecretMask> mask() const;

 private:
  struct Kept {
    std::string token;
    std::chrono::steady_clock::time_point until{};
  };
  Token find_token(int stop_fd, bool despite_breaker);
  tl::expected<Kept, client::CallError> fetch(int stop_fd, bool despite_breaker);
  void hide(const std::string& secret);

  const Endpoint endpoint_;
  const OutboundRules rules_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex.
  Kept kept_;
  bool fetching_ = false;
  int fetches_ = 0;                               // that have ended
  std::optional<client::CallError> failed_;       // why the last one did
  std::vector<std::string> hidden_;               // secrets and tokens, the newest at the end
  std::shared_ptr<const base::SecretMask> mask_;  // shared with calls that go on
};

}  // namespace baton::agents
