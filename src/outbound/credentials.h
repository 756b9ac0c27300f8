// Credentials: authenticate Baton to an agent elsewhere: with a secret, or with a token of OAuth 2 that it
// got for a secret or a signed assertion (token_request.h). Never with what a caller sent.
//
// The secret is read anew each time, so that it may change. A token is kept until shortly before it
// expires. It is fetched once at a time; others wait for the result. The client's secret goes to the token
// endpoint only.
//
// If the server is called for its callers (Server::Exchange), each caller's token has Credentials of its own,
// which `of` finds; so no token is used for two of them. The caller's token, too, goes to the token endpoint
// only. Without a caller no token is sent. Threads: any, but for `fetch`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/error.h"
#include "base/event_loop.h"
#include "base/lru.h"
#include "base/secret_mask.h"
#include "outbound/rules.h"
#include "outbound/server.h"
#include "outbound/token_request.h"
#include "task/task.h"

namespace baton::outbound {

struct HttpAnswer;
struct HttpRequest;

// The step that a caller must take before a request can be made for it.
struct CallerAsk {
  std::string text;
  std::string url;  // where; empty: nowhere
};

// Why there is no secret or token. No request was sent that needs one.
struct TokenError {
  std::string text;
  bool may_come = false;                     // another try may succeed
  bool held = false;                         // the breaker of the token endpoint is open for `retry_after`
  std::chrono::milliseconds retry_after{0};  // the delay that the breaker or the endpoint asks for; 0: none
  std::optional<CallerAsk> asks = {};        // there may be one once the caller has done this
};

class Credentials : public std::enable_shared_from_this<Credentials> {
 public:
  using Token = tl::expected<std::string, TokenError>;

  Credentials(Server server, Rules rules);
  ~Credentials();

  bool wanted() const { return server_.auth != Server::Auth::none; }
  // Whether the secret is required and missing, or the private key cannot be used.
  bool missing() const;

  // Returns the credentials for a turn whose caller came with this token; null: the caller has none now.
  // Returns this object unless the server is called on behalf of callers.
  std::shared_ptr<Credentials> of(const task::SubjectTokenPtr& subject);
  // What to ask the caller if the server refuses even a new token; nullopt: nothing.
  std::optional<CallerAsk> ask_after_refusal() const;

  // The secret or token; empty if none is needed, or if an optional one is missing. May block. `stop_fd`,
  // `despite_breaker`: see HttpRequest.
  Token find(int stop_fd, bool despite_breaker);

  // For calls on an event loop, in place of `find`. All of them use the same loop. A thread that calls `find`
  // beside them may fetch a token of its own at the same time. Returns what is known without a request;
  // nullopt: `fetch` comes next. May read a file.
  std::optional<Token> at_hand();
  // Whether `at_hand` may read a file.
  bool reads_file() const { return !server_.secret_file.empty() || !server_.private_key_file.empty(); }
  // Fetches a token and calls `done`, perhaps before this returns. Destroying the result ends the wait. On
  // the loop's thread.
  class Wait;
  std::unique_ptr<Wait> fetch(base::EventLoop& loop, bool despite_breaker, std::function<void(Token)> done);

  // The other side has refused this token: returns whether `find` will have another one.
  bool renew(const std::string& token);

  // Masks in the other side's answers the credentials that were recently sent to it: secrets and tokens,
  // including those no longer valid, and long values in its URL's query. Null if none were sent.
  std::shared_ptr<const base::SecretMask> mask() const;

 private:
  static constexpr std::size_t kCallersMax = 1'000;
  struct Kept {
    std::string token;
    std::chrono::steady_clock::time_point until{};
  };
  struct ForCaller {
    task::SubjectTokenPtr subject;  // null: the caller has none now
  };
  Credentials(Server server, Rules rules, ForCaller caller);
  // Whether there is never a token, because no caller is known.
  bool lacks_caller() const { return server_.exchange != Server::Exchange::none && !caller_; }
  std::optional<TokenError> without_subject() const;
  TokenError refused_exchange(const HttpAnswer& answer, TokenError error) const;

  std::optional<std::string> kept_token() const;  // if it is valid still
  Token find_token(int stop_fd, bool despite_breaker);
  // A request to the token endpoint, and its result.
  struct Fetch;
  tl::expected<std::shared_ptr<HttpRequest>, TokenError> token_request(bool despite_breaker);
  tl::expected<Kept, TokenError> read_token(const base::Result<HttpAnswer>& answer,
                                            std::chrono::steady_clock::time_point begun,
                                            std::chrono::milliseconds held) const;
  tl::expected<Kept, TokenError> fetch(int stop_fd, bool despite_breaker);
  void end_fetch(const tl::expected<Kept, TokenError>& fetched);
  void hide(const std::string& secret);

  const Server server_;
  const Rules rules_;
  const std::optional<ForCaller> caller_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex.
  Kept kept_;
  bool fetching_ = false;
  int fetches_ = 0;                               // how many have ended
  std::optional<TokenError> failed_;              // the error of the last fetch
  std::vector<std::string> hidden_;               // secrets and tokens, the newest at the end
  std::shared_ptr<const base::SecretMask> mask_;  // shared with calls under way
  std::string secret_at_hand_;                    // of oauth: as `at_hand` has read it last
  // By the SHA-256 of the caller's token. Shared with calls under way.
  base::Lru<std::string, std::shared_ptr<Credentials>> of_callers_{kCallersMax};
  // On the loop's thread.
  std::shared_ptr<Fetch> under_way_;  // shared with those that wait for it
};

// A turn's wait for a token.
class Credentials::Wait {
 public:
  Wait(Credentials& credentials, std::shared_ptr<Fetch> fetch, std::function<void(Token)> done);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  friend class Credentials;
  Credentials& credentials_;
  const std::shared_ptr<Fetch> fetch_;  // shared with the credentials and other waits
  std::function<void(Token)> done_;     // empty once it was called
};

}  // namespace baton::outbound
