// SignIn: people sign in to the console and the chat page by OpenID Connect (authorization code with PKCE,
// RFC 7636).
//
//   GET /sign-in?to=/console   sends the browser to the authorization server, with a short-lived cookie that
//                              ties the browser to state, nonce and PKCE; three tabs may sign in at once
//   GET /sign-in/callback      where it comes back: makes the session's cookie, and a page of ours leads to
//                              `to`. A redirect would not do: browsers send no Strict cookie at the end of a
//                              navigation that another site began.
//   GET /sign-in/session       who has signed in, as JSON, and the CSRF token; for our pages only
//   DELETE /sign-in/session    signs out
//
// Calls to the authorization server are bounded: a client's network has three places for them, and this
// server tries each return once.
//
// Threads: any; calls over the network run on the pool. Lifetime: all that the constructor gets must outlive
// it; stop the pool before it is destroyed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/lru.h"
#include "base/worker_pool.h"
#include "http/http_server.h"
#include "server/admission/jwt_issuers.h"
#include "server/admission/refusal_log.h"
#include "server/admission/sessions.h"
#include "server/shared/path_table.h"
#include "server/sign_in/provider.h"

namespace baton::server::sign_in {

inline constexpr std::string_view kSessionPath = "/sign-in/session";
std::span<const PathRow> paths();

struct Settings {
  SignInRules rules;
  std::vector<std::string> scopes{"openid", "profile", "email"};  // that are asked for

  friend bool operator==(const Settings&, const Settings&) = default;
};

// Whether a sign-in may lead there: to the console, the chat page, and what is below them, but to no link
// with a token.
bool may_lead_to(std::string_view place);

// The answer of GET /sign-in/session where nobody can sign in.
http::Reply no_sign_in();

class SignIn {
 public:
  struct Uses {
    Sessions& sessions;
    JwtIssuers& issuers;
    Provider& provider;
    base::WorkerPool& pool;
    const base::Clock& clock;
    std::shared_ptr<const TokenSecret> secret;  // shared with the sessions
  };
  explicit SignIn(Uses uses) : uses_(std::move(uses)) {}

  // Replaces the settings. Sessions end if they, or the rules of the issuer, differ.
  void set(Settings settings);

  // Answers a request for one of `paths`, whose host was checked. `options`: of the listener.
  void handle(const std::shared_ptr<http::Exchange>& exchange, const ServerOptions& options) const;

  static constexpr std::chrono::minutes kTimeMax{10};       // of a sign-in
  static constexpr std::chrono::hours kSessionTimeMax{12};  // of a session
  static constexpr int kSeatsMax = 3;                       // of a client's network
  static constexpr std::size_t kTriedMax = 10'000;

 private:
  struct Way;
  struct Begun;
  using ExchangePtr = std::shared_ptr<http::Exchange>;
  // A place of the client's network for a call to the authorization server; its last copy frees it.
  using Seat = std::shared_ptr<const void>;
  void begin(const ExchangePtr& exchange, const ServerOptions& options, const std::string& origin) const;
  void lead_there(const ExchangePtr& exchange, const Way& way, const base::Result<Endpoint>& endpoint) const;
  void come_back(const ExchangePtr& exchange, const ServerOptions& options, const std::string& origin) const;
  void redeem(const ExchangePtr& exchange, const std::string& origin, const Begun& begun) const;
  void welcome(const ExchangePtr& exchange, const std::string& origin, const Begun& begun,
               const std::string& id_token, bool may_wait) const;
  void show_session(const ExchangePtr& exchange, const ServerOptions& options) const;
  void end_session(const ExchangePtr& exchange, const ServerOptions& options) const;
  std::optional<Begun> begun_by(const http::Request& request, const std::string& origin) const;
  // Whether the log may say more about a failure of this kind: anybody can cause them, so a network's are
  // logged once a minute. `kind`: a literal.
  bool may_log(const Way& way, std::string_view kind) const;
  // Null: all are taken.
  Seat seat_of(const std::string& network) const;
  // Answers 503, and returns false, without a seat or if too many sign-ins are waiting.
  bool run(const ExchangePtr& exchange, const Seat& seat, std::function<void()> work) const;
  Settings settings() const;

  const Uses uses_;
  base::Guarded<Settings> settings_;
  using Seats = base::Guarded<std::map<std::string, int>>;          // those taken, by network
  const std::shared_ptr<Seats> seats_ = std::make_shared<Seats>();  // shared with each seat
  mutable base::Guarded<base::Lru<std::string, bool>> tried_{std::in_place, kTriedMax};  // by state
  mutable RefusalLog refusals_;
};

}  // namespace baton::server::sign_in
