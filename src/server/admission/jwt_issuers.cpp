#include "server/admission/jwt_issuers.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/log.h"
#include "base/loggable.h"
#include "base/sha256.h"
#include "jose/base64url.h"
#include "jose/jws.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kWaitMax{2'000};  // of a request, for keys
constexpr seconds kLook{60};             // the longest wait between two looks at what is due
constexpr seconds kRetryFirst{5}, kRetryMax{300};
constexpr std::size_t kRulesNameSize = 16;
constexpr std::size_t kTriesMax = 8;  // keys that a token without `kid` is tried with

TokenSource::Found not_valid(std::string reason) {
  return {nullptr, false, std::move(reason)};
}

bool is_id_token_of(const Issuer&, std::string_view typ) {
  return is_id_token(typ);
}

// The issuer that the token names. Nothing is believed yet.
std::string issuer_in(std::string_view claims) {
  const auto document = json::Document::parse_view(claims, {.depth_max = 20});
  return document ? document->root()["iss"].str() : std::string();
}

// `Place`: an Issuer or a Due.
template <class Place>
bool is_place_of(const Issuer& issuer, const Place& place) {
  return issuer.keys_url == place.keys_url && issuer.keys_file == place.keys_file;
}

// The digest of all settings that decide about tokens and their rights. Nodes with the same settings have the
// same digest.
std::string digest_of(const Issuer& issuer, const std::string& public_url) {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.member("issuer", issuer.url).member("here", public_url);
    out.key("audiences").strings(issuer.audiences);
    out.optional("clients", issuer.clients);
    out.key("algorithms").array([&] {
      for (const jose::Algorithm each : issuer.algorithms) out.integer(static_cast<int>(each));
    });
    out.member("any_typ", issuer.any_typ).member("skew", issuer.skew.count());
    out.member("subject", issuer.subject_claim).member("roles", issuer.roles_claim);
    out.key("viewers").strings(issuer.viewer_roles).key("operators").strings(issuer.operator_roles);
    // Left out where it is the default, as nodes of an earlier version make the digest.
    if (issuer.scope_claims != Issuer().scope_claims) out.key("scope_claims").strings(issuer.scope_claims);
    out.member("prefix", issuer.scope_prefix).key("scopes").strings(names_of(issuer.scopes));
    out.key("agents").strings(issuer.agents).member("agents_claim", issuer.agents_claim);
    out.member("keys_url", issuer.keys_url).member("keys_file", issuer.keys_file);
  });
  return jose::encode_base64url(base::sha256_bytes(text)).substr(0, kRulesNameSize);
}

seconds pause_after(int failures) {
  seconds pause = kRetryFirst;
  for (int i = 1; i < failures && pause < kRetryMax; ++i) pause *= 2;
  return std::min(pause, kRetryMax);
}

}  // namespace

struct JwtIssuers::Waiter {
  std::string issuer;
  std::function<void()> done;
  std::atomic<bool> is_called{false};
  void call() {
    if (!is_called.exchange(true)) std::exchange(done, {})();
  }
};

JwtIssuers::JwtIssuers(const base::Clock& clock, const base::Clock& steady, After after)
    : clock_(clock), steady_(steady), after_(std::move(after)) {}

void JwtIssuers::set(std::vector<server::Issuer> issuers, std::string public_url, bool keeps_texts) {
  state_.with([&](State& state) {
    std::vector<Tracked> tracked;
    for (server::Issuer& each : issuers) {
      Tracked& one = tracked.emplace_back();
      for (const Tracked& old : state.issuers) {
        if (old.rules->url == each.url && is_place_of(*old.rules, each)) one = old;
      }
      if (!each.keys_file.empty()) {
        one.due = {};
        one.is_stale = one.is_under_way;
      }
      one.rules_id = digest_of(each, public_url);
      one.rules = std::make_shared<const server::Issuer>(std::move(each));
    }
    state.issuers = std::move(tracked);
    state.public_url = std::move(public_url);
    state.keeps_texts = keeps_texts;
    state.known.clear();
    state.refused.clear();
    ++state.generation;
  });
  if (on_due_) on_due_();
}

std::vector<TokenSource::Issuer> JwtIssuers::issuers() const {
  return state_.with([](const State& state) {
    std::vector<TokenSource::Issuer> shown;
    for (const Tracked& each : state.issuers)
      shown.push_back({each.rules->url, each.rules->scope_prefix, each.rules_id, each.rules->scopes});
    return shown;
  });
}

JwtIssuers::Tracked* JwtIssuers::tracked(State& state, std::string_view issuer) const {
  const auto found =
      std::ranges::find_if(state.issuers, [&](const Tracked& each) { return each.rules->url == issuer; });
  return found == state.issuers.end() ? nullptr : &*found;
}

TokenSource::Found JwtIssuers::find(std::string_view secret) {
  // The whole form is looked at only if the token is not known.
  if (!secret.starts_with("ey")) return {};
  if (secret.size() > jose::kJwsBytesMax) return not_valid("it is larger than 16 KiB");
  const std::string digest = base::sha256_bytes(secret);
  std::int64_t generation = 0;
  auto answer = state_.with([&](State& state) {
    generation = state.generation;
    return remembered(state, digest);
  });
  if (answer) return std::move(*answer);
  Found found = verify(secret, digest);
  if (found.token || found.is_pending) return found;
  state_.with([&](State& state) {
    if (state.generation == generation && state.refused.find(digest) == nullptr)
      state.refused.put(digest, {found.reason, steady_.now() + kRefusedTime});
  });
  return found;
}

bool JwtIssuers::is_quick(std::string_view secret) {
  if (secret.size() > jose::kJwsBytesMax || !jose::looks_like_jws(secret)) return true;
  const std::string digest = base::sha256_bytes(secret);
  return state_.with([&](State& state) { return remembered(state, digest).has_value(); });
}

std::optional<TokenSource::Found> JwtIssuers::remembered(State& state, const std::string& digest) const {
  if (const Known* const found = state.known.find(digest)) {
    if (clock_.now() < found->ends && steady_.now() < found->until)
      return Found{.token = found->token, .until = found->expires};
    state.known.erase(digest);
  }
  if (const Refused* const found = state.refused.find(digest)) {
    if (steady_.now() < found->until) return not_valid(found->reason);
    state.refused.erase(digest);
  }
  return std::nullopt;
}

JwtIssuers::Signed JwtIssuers::check(std::string_view secret, Fits fits) {
  const auto refused = [](Found found) { return Signed{.refused = std::move(found)}; };
  if (!jose::looks_like_jws(secret)) return {};
  auto jws = jose::parse_jws(secret);
  if (!jws) return refused(not_valid(jws.error().for_log));
  const std::string name = issuer_in(jws->payload);
  Signed found;
  std::shared_ptr<const server::Issuer>& issuer = found.issuer;
  Keys keys;
  state_.with([&](State& state) {
    const Tracked* const named = tracked(state, name);
    if (named == nullptr) return;
    issuer = named->rules;
    if (named->keys && steady_.now() < named->fetched + kAgeMax) keys = named->keys;
    found.public_url = state.public_url;
    found.generation = state.generation;
    found.keeps_texts = state.keeps_texts;
  });
  if (!issuer) return refused(not_valid("iss is no issuer of the configuration"));
  if (std::ranges::find(issuer->algorithms, jws->algorithm) == issuer->algorithms.end())
    return refused(not_valid("its alg is not accepted from this issuer"));
  if (!fits(*issuer, jws->typ)) return refused(not_valid("its typ is that of another kind of token"));
  if (!keys) {
    (void)wants_keys(issuer->url);
    return refused({nullptr, true, "the issuer's keys are not known"});
  }
  auto candidates = keys->candidates(jws->kid, jws->algorithm);
  if (candidates.empty()) {
    if (jws->kid.empty() || keys->has(jws->kid))
      return refused(not_valid("its key is for another algorithm"));
    if (wants_keys(issuer->url)) return refused({nullptr, true, "its key is not known yet"});
    return refused(not_valid("its key is none of the issuer's"));
  }
  if (candidates.size() > kTriesMax) return refused(not_valid("it has no kid, and the issuer has many keys"));
  if (std::ranges::none_of(candidates, [&](const jose::Jwk* key) { return jose::is_signed_by(*jws, *key); }))
    return refused(not_valid("its signature is wrong"));
  found.payload = std::move(jws->payload);
  return found;
}

TokenSource::Found JwtIssuers::verify(std::string_view secret, const std::string& digest) {
  Signed found = check(secret, &is_access_token);
  if (!found.issuer) return std::move(found.refused);
  auto claimed = read_claims(*found.issuer, found.public_url, found.payload, clock_.now());
  if (!claimed) return not_valid(claimed.error().for_log);
  if (!claimed->actors.empty()) {
    std::string chain;
    for (const std::string& actor : claimed->actors)
      chain.append(chain.empty() ? "" : ", for ").append(base::loggable(actor));
    base::log_info({{"caller", claimed->token.caller.value}}, "its token is used by {}", chain);
  }
  if (found.keeps_texts) claimed->token.subject = {std::string(secret), claimed->expires};
  const TokenPtr token = std::make_shared<const Token>(std::move(claimed->token));
  state_.with([&](State& state) {
    if (state.generation == found.generation && state.known.find(digest) == nullptr)
      state.known.put(digest, {token, claimed->expires, claimed->until, steady_.now() + kKnownTime});
  });
  return {.token = token, .until = claimed->expires};
}

base::Result<SignedIn> JwtIssuers::read_id_token(const SignInRules& rules, std::string_view nonce,
                                                 std::string_view text) {
  const Signed found = check(text, &is_id_token_of);
  const std::string sentence = "the authorization server's answer is not valid";
  if (!found.issuer && found.refused.is_pending)
    return base::fail(base::ErrorCode::unavailable, sentence, found.refused.reason);
  if (!found.issuer || found.issuer->url != rules.issuer)
    return base::fail(base::ErrorCode::unauthenticated, sentence,
                      found.issuer ? "its ID token is of another issuer" : found.refused.reason);
  return read_id_claims(*found.issuer, rules, nonce, found.payload, clock_.now());
}

std::shared_ptr<const Issuer> JwtIssuers::rules_of(std::string_view issuer) const {
  return state_.with([&](const State& state) -> std::shared_ptr<const server::Issuer> {
    for (const Tracked& each : state.issuers) {
      if (each.rules->url == issuer) return each.rules;
    }
    return nullptr;
  });
}

bool JwtIssuers::wants_keys(const std::string& issuer) {
  bool begins = false;
  const bool comes = state_.with([&](State& state) {
    Tracked* const named = tracked(state, issuer);
    if (named == nullptr) return false;
    const base::Timestamp now = steady_.now();
    if (named->is_under_way || named->due <= now) return true;
    if (named->has_tried && now < named->tried + kUnknownKeyPause) return false;
    named->due = now;
    begins = true;
    return true;
  });
  if (begins && on_due_) on_due_();
  return comes;
}

TokenSource::Wait JwtIssuers::await(std::string_view secret, const std::string& from,
                                    std::function<void()> done) {
  if (!apart_) return await_keys_of(secret, std::move(done)) ? Wait::begun : Wait::none;
  if (is_quick(secret)) return Wait::none;
  auto work = [this, secret = std::string(secret), from, done = std::move(done)] {
    // The thread that brings the keys checks no signatures with them.
    const auto check = [this, secret, from, done] {
      const bool is_taken = apart_(from, [this, secret, done] {
        (void)find(secret);
        done();
      });
      if (!is_taken) done();
    };
    if (!await_keys_of(secret, check)) done();
  };
  return apart_(from, std::move(work)) ? Wait::begun : Wait::full;
}

bool JwtIssuers::await_keys_of(std::string_view secret, std::function<void()> done) {
  if (!find(secret).is_pending) return false;
  const auto jws = jose::parse_jws(secret);
  return await_keys(issuer_in(jws->payload), std::move(done));
}

bool JwtIssuers::await_keys(const std::string& issuer, std::function<void()> done) {
  auto waiter = std::make_shared<Waiter>();
  waiter->issuer = issuer;
  waiter->done = std::move(done);
  const bool waits = state_.with([&](State& state) {
    const Tracked* const named = tracked(state, waiter->issuer);
    const bool comes = named != nullptr && (named->is_under_way || named->due <= steady_.now());
    std::erase_if(state.waiters, [](const auto& each) { return each->is_called.load(); });
    const auto others =
        std::ranges::count(state.waiters, waiter->issuer, [](const auto& each) { return each->issuer; });
    if (!comes || state.is_stopped || others >= static_cast<std::ptrdiff_t>(kWaitersMax)) return false;
    state.waiters.push_back(waiter);
    return true;
  });
  if (waits) after_(kWaitMax, [waiter] { waiter->call(); });
  return waits;
}

void JwtIssuers::stop() {
  const auto waiters = state_.with([](State& state) {
    state.is_stopped = true;
    return std::exchange(state.waiters, {});
  });
  for (const auto& waiter : waiters) waiter->call();
}

std::optional<JwtIssuers::Due> JwtIssuers::next_due(milliseconds& wait) {
  wait = kLook;
  return state_.with([&](State& state) -> std::optional<Due> {
    const base::Timestamp now = steady_.now();
    for (Tracked& each : state.issuers) {
      if (each.is_under_way) continue;
      if (each.due > now) {
        wait = std::min(wait, each.due - now);
        continue;
      }
      each.is_under_way = each.has_tried = true;
      each.tried = now;
      return Due{each.rules->url, each.rules->keys_url, each.rules->keys_file};
    }
    return std::nullopt;
  });
}

void JwtIssuers::took(const Due& due, const base::Result<Fetched>& fetched) {
  base::Result<jose::JwkSet> set = base::fail(base::ErrorCode::internal, {});
  if (fetched) {
    set = jose::read_jwk_set(fetched->text);
  } else {
    set = base::fail(fetched.error());
  }
  std::vector<std::shared_ptr<Waiter>> waiters;
  int failures = 0;
  bool is_first = false;
  state_.with([&](State& state) {
    ++(set ? state.fetches : state.failures);
    const auto of_others = std::ranges::stable_partition(
        state.waiters, [&](const auto& waiter) { return waiter->issuer != due.issuer; });
    waiters.assign(of_others.begin(), of_others.end());
    state.waiters.erase(of_others.begin(), of_others.end());
    Tracked* const named = tracked(state, due.issuer);
    // Since a reload the keys may come from another place.
    if (named == nullptr || !is_place_of(*named->rules, due)) return;
    named->is_under_way = false;
    if (std::exchange(named->is_stale, false)) return;
    const base::Timestamp now = steady_.now();
    if (!set) {
      failures = ++named->failures;
      named->due = now + pause_after(failures);
      return;
    }
    is_first = named->keys == nullptr || named->failures > 0;
    named->failures = 0;
    named->fetched = now;
    const seconds age =
        std::clamp(fetched->max_age.count() > 0 ? fetched->max_age : kAgeUsual, kAgeMin, kAgeMax);
    named->due = now + age * 4 / 5;
    named->keys = std::make_shared<const jose::JwkSet>(std::move(*set));
    state.known.clear();
    state.refused.clear();
    ++state.generation;
  });
  const std::string name = base::loggable(due.issuer);
  if (failures == 1)
    base::log_warn({{"issuer", name}}, "its keys cannot be fetched: {}", set.error().for_caller);
  if (is_first) base::log_info({{"issuer", name}}, "its keys are known");
  for (const auto& waiter : waiters) waiter->call();
}

void JwtIssuers::add_to(base::MetricsText& out) const {
  using Type = base::MetricsText::Type;
  struct Age {
    std::string issuer;
    double seconds;
  };
  std::vector<Age> ages;
  std::int64_t fetches = 0, failures = 0, known = 0;
  state_.with([&](const State& state) {
    fetches = state.fetches;
    failures = state.failures;
    known = static_cast<std::int64_t>(state.known.size());
    for (const Tracked& each : state.issuers) {
      const auto age = steady_.now() - each.fetched;
      if (each.keys) ages.push_back({each.rules->url, std::chrono::duration<double>(age).count()});
    }
  });
  out.family("baton_issuer_fetches_total", Type::counter,
             "Fetches of the keys of authorization servers since start, by outcome.");
  out.value({{"outcome", "taken"}}, fetches);
  out.value({{"outcome", "failed"}}, failures);
  out.family("baton_issuer_keys_age_seconds", Type::gauge,
             "Time since the keys of an authorization server were fetched, in seconds.");
  for (const Age& each : ages) out.value({{"issuer", each.issuer}}, each.seconds);
  out.gauge("baton_issuer_tokens_known", "Verified tokens of authorization servers in memory.", known);
}

}  // namespace baton::server
