// Sessions: people who have signed in (server/sign_in/sign_in.h), as signed cookies.
//
// A session is stored nowhere, so each server with the same secret accepts it. It ends at its time, when its
// person signs out, and when the rules for signing in change. Only the server where they sign out knows that;
// the others accept a copy of the cookie until its time. A session that was signed out never comes back
// there: if more than kEndedMax have been, the one that would end first is forgotten, and with it every
// session that would end no later has ended.
//
// Threads: any. Lifetime: the clock must outlive it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "http/http_server.h"
#include "server/admission/token_secret.h"
#include "server/shared/options.h"

namespace baton::server {

struct Session {
  std::string id;    // random
  Token token;       // its secret is empty
  std::string name;  // of the person, for people
  base::Timestamp until{};
  std::string rules;  // Sessions::rules_id at its begin
};

// The header in which a page repeats its session's CSRF token.
inline constexpr std::string_view kCsrfHeader = "X-CSRF-Token";
inline constexpr std::string_view kSessionCookie = "baton-session";

class Sessions {
 public:
  Sessions(const base::Clock& clock, std::shared_ptr<const TokenSecret> secret)
      : clock_(clock), secret_(std::move(secret)) {}

  // `rules`: any text that differs if the rules do. Sessions that began under other rules end.
  void set_rules(std::string rules);

  // The value of the session's cookie.
  std::string cookie_of(const Session& session) const;
  // The session in the request's cookie; nullopt without a valid one, and at an origin that is not safe.
  std::optional<Session> find(const ServerOptions& options, const http::Request& request) const;
  // Sign-out.
  void end(const Session& session);
  // Whether it has ended before its time `until`. `rules`: rules_id at its begin.
  bool has_ended(const std::string& id, base::Timestamp until, std::string_view rules) const;
  // Names the rules. Read it before the rules themselves when you make a session, so that rights of earlier
  // rules never get a later name.
  std::string rules_id() const;
  // The token that a page of the session must send with each request that changes something.
  std::string csrf_of(const Session& session) const;

  static constexpr std::size_t kEndedMax = 10'000;

 private:
  const base::Clock& clock_;
  const std::shared_ptr<const TokenSecret> secret_;  // shared with the options and sign-ins under way
  base::Guarded<std::string> rules_id_;
  struct Ended {
    std::map<std::string, base::Timestamp> until;  // the times of those that were signed out, by id
    base::Timestamp all_until{};                   // sessions whose time is this or earlier have ended, too

    bool has(const std::string& id, base::Timestamp its_time) const {
      return its_time <= all_until || until.contains(id);
    }
  };
  base::Guarded<Ended> ended_;
};

// The session that the request acts for. A request that brings a token has none, nor has one of another
// origin's page. Fails with permission_denied if the request may change something, and its Origin or CSRF
// token is missing or wrong.
base::Result<std::optional<Session>> session_of(const ServerOptions& options, const http::Request& request);

// The name of a cookie at this origin. With https it has the prefix that keeps other hosts and plain HTTP
// from setting it; browsers refuse that prefix at http://localhost.
std::string cookie_name(std::string_view origin, std::string_view name);
// The value of Set-Cookie. `attributes`: SameSite and Max-Age.
std::string set_cookie(std::string_view origin, std::string_view name, std::string_view value,
                       std::string_view attributes);
// The value of the request's cookie; empty if it has none of this name, or several.
std::string_view cookie_in(const http::Request& request, std::string_view name);

}  // namespace baton::server
