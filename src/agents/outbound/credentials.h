// Credentials: authenticate Baton to an agent elsewhere: with a secret, or with a token obtained for a
// secret (OAuth 2 client credentials, RFC 6749 section 4.4). Never with a caller's own credentials.
//
// The secret is read anew each time, so that it may change. A token is kept until shortly before it
// expires. One thread at a time fetches it; the others wait for the result. The client's secret goes to
// the token endpoint only. Threads: any.
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
  // Whether the secret is required and missing.
  bool missing() const;

  // The secret or token; empty if none is needed, or if an optional one is missing. May block. `stop_fd`,
  // `despite_breaker`: see http::outbound::HttpRequest.
  Token find(int stop_fd, bool despite_breaker);
  // The other side has refused this token: returns whether `find` will have another one.
  bool renew(const std::string& token);

  // Masks in the other side's answers the credentials that were recently sent to it: secrets and tokens,
  // including those no longer valid, and long values in its URL's query. Null if none were sent.
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
  // Guarded by the mutex.
  Kept kept_;
  bool fetching_ = false;
  int fetches_ = 0;                               // how many have ended
  std::optional<client::CallError> failed_;       // the error of the last fetch
  std::vector<std::string> hidden_;               // secrets and tokens, the newest at the end
  std::shared_ptr<const base::SecretMask> mask_;  // shared with calls under way
};

}  // namespace baton::agents
