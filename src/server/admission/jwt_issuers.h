// JwtIssuers: accepts the access tokens of authorization servers, and knows when to fetch their keys.
//
// A token is verified once and then known until it expires, for at most five minutes, or until its issuer's
// keys change. Keys are fetched ahead of their expiry; a token that names an unknown key causes a fetch, at
// most once a minute for each issuer. If no fetch succeeds, the last keys serve for a day. It does no I/O:
// app/issuer_keys.h asks `next_due`, fetches, and reports with `took`.
//
// Threads: any. Lifetime: the clocks must outlive it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/lru.h"
#include "base/metrics_text.h"
#include "jose/jwk.h"
#include "server/admission/jwt_claims.h"
#include "server/shared/token_source.h"

namespace baton::server {

class JwtIssuers final : public TokenSource {
 public:
  // Runs work after a time; may drop it when the program ends.
  using After = std::function<void(std::chrono::milliseconds, std::function<void()>)>;
  // Runs work on another thread, fairly between its owners. Returns false, and drops it, if too much waits.
  using Apart = std::function<bool(const std::string& owner, std::function<void()>)>;

  // `clock`: for the times in tokens. `steady`: for the age of keys and of known tokens.
  JwtIssuers(const base::Clock& clock, const base::Clock& steady, After after);

  // Replaces the issuers. One whose keys come from the same place keeps them, but a file is read again.
  // `keeps_texts`: the texts of known tokens are kept, because agents exchange them (Token::subject).
  void set(std::vector<server::Issuer> issuers, std::string public_url, bool keeps_texts = false);

  Found find(std::string_view secret) override;
  bool is_quick(std::string_view secret) override;
  Wait await(std::string_view secret, const std::string& from, std::function<void()> done) override;
  std::vector<TokenSource::Issuer> issuers() const override;

  // Reads an ID token, whose signature is checked like that of access tokens. Fails with unavailable while
  // the issuer's keys are being fetched (await_keys), else like read_id_claims.
  base::Result<SignedIn> read_id_token(const SignInRules& rules, std::string_view nonce,
                                       std::string_view text);
  // Calls `done` once the keys of the issuer are fetched, or after two seconds. Returns false, and does not
  // call it, if they are not being fetched.
  bool await_keys(const std::string& issuer, std::function<void()> done);
  // The rules of an issuer; null: it is not configured.
  std::shared_ptr<const server::Issuer> rules_of(std::string_view issuer) const;

  // A fetch of an issuer's keys that must be made now. It is under way until `took`.
  struct Due {
    std::string issuer, keys_url, keys_file;  // as in Issuer
  };
  // The next fetch that is due; else sets `wait` to the time until one may be.
  std::optional<Due> next_due(std::chrono::milliseconds& wait);
  struct Fetched {
    std::string text;                 // the key set
    std::chrono::seconds max_age{0};  // as Cache-Control says; 0: it says nothing
  };
  // Reports the outcome. The log gets the reason of a failure.
  void took(const Due& due, const base::Result<Fetched>& fetched);
  // Called when a fetch becomes due earlier than `next_due` said. Set it before the first request; it must
  // not block.
  void set_on_due(std::function<void()> on_due) { on_due_ = std::move(on_due); }
  // Where `await` checks signatures; without it on the calling thread. Set it before the first request, and
  // end its work after `stop`, which may add to it.
  void set_apart(Apart apart) { apart_ = std::move(apart); }
  // Ends all waits for keys as if their time were over; later ones do not begin. What waits owns its request,
  // so call this, and end the work of `Apart`, while all that requests use still lives.
  void stop();

  void add_to(base::MetricsText& out) const;

  static constexpr std::size_t kKnownMax = 10'000;
  static constexpr std::size_t kRefusedMax = 1'000;
  static constexpr std::size_t kWaitersMax = 1'000;  // for each issuer
  static constexpr std::chrono::minutes kKnownTime{5}, kUnknownKeyPause{1};
  static constexpr std::chrono::seconds kAgeMin{300}, kAgeMax{86'400}, kAgeUsual{3'600}, kRefusedTime{5};

 private:
  using Keys = std::shared_ptr<const jose::JwkSet>;  // shared with verifications under way
  struct Tracked {
    std::shared_ptr<const server::Issuer> rules;  // shared with verifications under way
    std::string rules_id;                         // a digest of them
    Keys keys;                                    // null: there are none yet, or they are too old
    base::Timestamp fetched{}, due{}, tried{};
    bool has_tried = false, is_under_way = false;
    bool is_stale = false;  // what is being fetched was asked for before the last `set`
    int failures = 0;       // in a row
  };
  struct Known {
    TokenPtr token;
    base::Timestamp expires;      // `exp`
    base::Timestamp ends, until;  // by the clock of tokens, and by the steady one
  };
  struct Refused {
    std::string reason;
    base::Timestamp until;  // by the steady clock
  };
  struct Waiter;
  struct State {
    std::vector<Tracked> issuers;
    std::string public_url;
    bool keeps_texts = false;
    base::Lru<std::string, Known> known{kKnownMax};  // by the token's SHA-256
    // A request asks for its token more than once, and each check of a signature takes time.
    base::Lru<std::string, Refused> refused{kRefusedMax};
    std::vector<std::shared_ptr<Waiter>> waiters;  // shared with their timers
    bool is_stopped = false;
    std::int64_t generation = 0;  // of keys and rules
    std::int64_t fetches = 0, failures = 0;
  };

  // A token with a good signature, or why it is refused.
  struct Signed {
    std::shared_ptr<const server::Issuer> issuer = nullptr;  // null: it is refused
    std::string payload = {}, public_url = {};
    std::int64_t generation = 0;
    bool keeps_texts = false;
    Found refused = {};
  };
  using Fits = bool (*)(const server::Issuer&, std::string_view typ);
  // Like await_keys, for the keys that the token needs.
  bool await_keys_of(std::string_view secret, std::function<void()> done);
  Signed check(std::string_view secret, Fits fits);
  Found verify(std::string_view secret, const std::string& digest);
  // Returns the result that is remembered for the token with this SHA-256, and drops it if it is too old.
  std::optional<Found> remembered(State& state, const std::string& digest) const;
  // Whether a fetch for an unknown key is under way; begins one if it is time.
  bool wants_keys(const std::string& issuer);
  Tracked* tracked(State& state, std::string_view issuer) const;

  const base::Clock& clock_;
  const base::Clock& steady_;
  const After after_;
  std::function<void()> on_due_;
  Apart apart_;
  base::Guarded<State> state_;
};

}  // namespace baton::server
