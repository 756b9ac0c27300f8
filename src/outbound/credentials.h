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

#include "base/secret_mask.h"
#include "outbound/rules.h"
#include "outbound/server.h"

namespace baton::outbound {

// Why there is no secret or token. No request was sent that needs one.
struct TokenError {
  std::string text;
  bool may_come = false;                     // another try may succeed
  bool held = false;                         // the breaker of the token endpoint is open for `retry_after`
  std::chrono::milliseconds retry_after{0};  // the delay that the breaker or the endpoint asks for; 0: none
};

class Credentials {
 public:
  using Token = tl::expected<std::string, TokenError>;

  Credentials(Server server, Rules rules);

  bool wanted() const { return server_.auth != Server::Auth::none; }
  // Whether the secret is required and missing.
  bool missing() const;

  // The secret or token; empty if none is needed, or if an optional one is missing. May block. `stop_fd`,
  // `despite_breaker`: see HttpRequest.
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
  tl::expected<Kept, TokenError> fetch(int stop_fd, bool despite_breaker);
  void hide(const std::string& secret);

  const Server server_;
  const Rules rules_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex.
  Kept kept_;
  bool fetching_ = false;
  int fetches_ = 0;                               // how many have ended
  std::optional<TokenError> failed_;              // the error of the last fetch
  std::vector<std::string> hidden_;               // secrets and tokens, the newest at the end
  std::shared_ptr<const base::SecretMask> mask_;  // shared with calls under way
};

}  // namespace baton::outbound
