#include "server/sign_in/sign_in.h"

#include <algorithm>
#include <array>

#include "base/id.h"
#include "base/log.h"
#include "base/loggable.h"
#include "base/sha256.h"
#include "base/text.h"
#include "http/http_text.h"
#include "jose/base64url.h"
#include "json/document.h"
#include "json/writer.h"
#include "server/admission/access.h"
#include "server/admission/api_key_tokens.h"
#include "server/admission/hosts.h"
#include "server/shared/answers.h"
#include "server/sign_in/pages.h"

namespace baton::server::sign_in {
namespace {

constexpr std::string_view kBegin = "/sign-in", kCallback = "/sign-in/callback";
constexpr std::array kPaths{
    PathRow{Place::operators, "GET", kBegin, Stage::sign_in, Head::refused},
    PathRow{Place::operators, "GET", kCallback, Stage::sign_in, Head::refused},
    PathRow{Place::operators, "GET, DELETE", kSessionPath, Stage::sign_in, Head::refused},
};
// The cookies of sign-ins under way: one for each tab.
constexpr std::array<std::string_view, 3> kCookies{"baton-sign-in", "baton-sign-in-2", "baton-sign-in-3"};
constexpr std::string_view kPurpose = "sign-in";
constexpr std::string_view kConsole = "/console", kChat = "/chat";
constexpr std::size_t kPlaceMax = 512, kCodeMax = 4'096, kCookieMax = 3'900;
constexpr int kRandomBytes = 32;  // as hexadecimal it has the length that PKCE wants
constexpr const char* kTooMany = "Too many people are signing in at the moment. Try again soon.";

std::string parameter(const http::Request& request, std::string_view name) {
  for (const auto& [each, value] : request.query) {
    if (each == name) return value;
  }
  return {};
}

// Whether a page would take a token from the place's fragment, as URLSearchParams reads it.
bool carries_token(std::string_view place) {
  std::string_view rest = place.substr(std::min(place.find('#'), place.size()));
  if (rest.starts_with('#')) rest.remove_prefix(1);
  if (rest.starts_with('?')) rest.remove_prefix(1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view name = rest.substr(0, std::min(rest.find('='), end));
    if (http::query_decoded(name) == "token") return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string attributes(std::string_view same_site, std::chrono::seconds time) {
  return "SameSite=" + std::string(same_site) + "; Max-Age=" + std::to_string(time.count());
}

// Returns the cookie for a new sign-in: one that the browser does not have, or else the first.
std::string_view free_cookie(const http::Request& request, std::string_view origin) {
  const auto is_free = [&](std::string_view name) {
    return cookie_in(request, cookie_name(origin, name)).empty();
  };
  const auto found = std::ranges::find_if(kCookies, is_free);
  return found == kCookies.end() ? kCookies.front() : *found;
}

http::Reply json_of(std::string body) {
  http::Reply reply;
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.body = std::move(body);
  return reply;
}

std::string reason_of(const base::Error& error) {
  return base::loggable(error.for_log.empty() ? error.for_caller : error.for_log);
}

// All that decides who may sign in and as what.
std::string rules_text(const Settings& settings, const Issuer* issuer) {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.member("issuer", settings.rules.issuer).member("client", settings.rules.client_id);
    out.key("callers").strings(settings.rules.caller_roles);
    if (issuer == nullptr) return;
    out.member("subject", issuer->subject_claim).member("roles", issuer->roles_claim);
    out.key("viewers").strings(issuer->viewer_roles).key("operators").strings(issuer->operator_roles);
    out.key("agents").strings(issuer->agents).member("agents_claim", issuer->agents_claim);
  });
  return text;
}

}  // namespace

struct SignIn::Way {
  std::string origin;  // where it began
  std::string place;   // where it leads to
  std::string rules;   // Sessions::rules_id at its begin
  std::string client;  // the address of the request
};

// A sign-in that is under way.
struct SignIn::Begun {
  std::string_view cookie;  // one of kCookies
  std::string state, nonce, verifier;
  Way way;
  bool needs_issuer = false;
  Seat seat = nullptr;  // for its end

  // Returns the reply with a header that deletes the cookie, as at every end of a sign-in.
  http::Reply ending(http::Reply reply) const {
    reply.headers.emplace_back(
        "Set-Cookie", set_cookie(way.origin, cookie, "", attributes("Lax", std::chrono::seconds(0))));
    return reply;
  }
};

std::span<const PathRow> paths() {
  return kPaths;
}

bool may_lead_to(std::string_view place) {
  const auto is_below = [&](std::string_view page) {
    return place.starts_with(page) &&
           (place.size() == page.size() ||
            std::string_view("/?#").find(place[page.size()]) != std::string_view::npos);
  };
  const bool is_plain = std::ranges::all_of(place, [](unsigned char c) {
    return c > ' ' && c < 0x7f &&
           std::string_view("\\\"<>").find(static_cast<char>(c)) == std::string_view::npos;
  });
  return (is_below(kConsole) || is_below(kChat)) && is_plain && place.size() <= kPlaceMax &&
         place.find("//") == std::string_view::npos && place.find("..") == std::string_view::npos &&
         !carries_token(place);
}

http::Reply no_sign_in() {
  return json_of(R"({"signIn":false})");
}

void SignIn::set(Settings settings) {
  std::string rules = rules_text(settings, uses_.issuers.rules_of(settings.rules.issuer).get());
  settings_.with([&](Settings& now) { now = std::move(settings); });
  // Last, because a sign-in reads the id first.
  uses_.sessions.set_rules(std::move(rules));
}

Settings SignIn::settings() const {
  return settings_.with([](const Settings& now) { return now; });
}

bool SignIn::may_log(const Way& way, std::string_view kind) const {
  return refusals_.record(way.client, kind, std::chrono::steady_clock::now());
}

SignIn::Seat SignIn::seat_of(const std::string& network) const {
  const bool is_free = seats_->with([&](auto& taken) {
    const auto found = taken.find(network);
    if (found != taken.end() && found->second >= kSeatsMax) return false;
    ++taken[network];
    return true;
  });
  if (!is_free) return nullptr;
  return {this, [seats = seats_, network](const void*) {
            seats->with([&](auto& taken) {
              if (--taken[network] == 0) taken.erase(network);
            });
          }};
}

bool SignIn::run(const ExchangePtr& exchange, const Seat& seat, std::function<void()> work) const {
  if (seat && uses_.pool.try_submit(std::move(work))) return true;
  exchange->reply(page_of_failure(503, kTooMany, kConsole));
  return false;
}

void SignIn::handle(const ExchangePtr& exchange, const ServerOptions& options) const {
  const http::Request& request = exchange->request();
  if (request.path == kSessionPath)
    return request.method == "DELETE" ? end_session(exchange, options) : show_session(exchange, options);
  const std::string origin = own_origin(options, request);
  if (!is_safe_origin(origin))
    return exchange->reply(page_of_failure(
        400, "Signing in requires https, because the browser would send its session in the clear.",
        kConsole));
  if (request.path == kBegin) return begin(exchange, options, origin);
  come_back(exchange, options, origin);
}

void SignIn::begin(const ExchangePtr& exchange, const ServerOptions& options,
                   const std::string& origin) const {
  const std::string wanted = parameter(exchange->request(), "to");
  const std::string place(wanted.empty() ? kConsole : std::string_view(wanted));
  if (!may_lead_to(place))
    return exchange->reply(
        page_of_failure(400, "Signing in may only lead to the console or the chat.", kConsole));
  // The id before all that the rules decide.
  const Way way{origin, place, uses_.sessions.rules_id(),
                std::string(client_address(options, exchange->request()))};
  if (const auto known = uses_.provider.known_endpoint()) return lead_there(exchange, way, *known);
  const Seat seat = seat_of(network_of(way.client));
  run(exchange, seat, [this, exchange, way, seat] { lead_there(exchange, way, uses_.provider.endpoint()); });
}

void SignIn::lead_there(const ExchangePtr& exchange, const Way& way,
                        const base::Result<Endpoint>& endpoint) const {
  if (!endpoint) {
    if (may_log(way, "a sign-in whose authorization server cannot be reached"))
      spdlog::warn("sign-in: the authorization server cannot be reached: {}", reason_of(endpoint.error()));
    return exchange->reply(page_of_failure(
        503, "The authorization server cannot be reached at the moment. Try again.", way.place));
  }
  const Settings settings = this->settings();
  const std::string state = base::random_hex(kRandomBytes), nonce = base::random_hex(kRandomBytes),
                    verifier = base::random_hex(kRandomBytes);
  std::string payload;
  json::Writer out(payload);
  out.object([&] {
    out.member("state", state).member("nonce", nonce).member("verifier", verifier);
    out.member("origin", way.origin).member("place", way.place);
    out.member("rules", way.rules).member("needs_issuer", endpoint->names_issuer);
    out.member("until", base::to_ms(uses_.clock.now() + kTimeMax));
  });
  std::string url = endpoint->url;
  char separator = url.find('?') == std::string::npos ? '?' : '&';
  const auto add = [&](std::string_view name, std::string_view value) {
    url.append(1, std::exchange(separator, '&'))
        .append(name)
        .append("=")
        .append(base::percent_encoded(value));
  };
  std::string scope;
  for (const std::string& each : settings.scopes) scope.append(scope.empty() ? "" : " ").append(each);
  add("response_type", "code");
  add("client_id", settings.rules.client_id);
  add("redirect_uri", way.origin + std::string(kCallback));
  add("scope", scope);
  add("state", state);
  add("nonce", nonce);
  add("code_challenge", jose::encode_base64url(base::sha256_bytes(verifier)));
  add("code_challenge_method", "S256");
  http::Reply reply;
  reply.status = 303;
  reply.content_type.clear();
  reply.headers = {
      {"Location", std::move(url)},
      {"Cache-Control", "no-store"},
      {"Referrer-Policy", "no-referrer"},
      {"Set-Cookie", set_cookie(way.origin, free_cookie(exchange->request(), way.origin),
                                uses_.secret->sign(kPurpose, payload), attributes("Lax", kTimeMax))}};
  exchange->reply(std::move(reply));
}

std::optional<SignIn::Begun> SignIn::begun_by(const http::Request& request, const std::string& origin) const {
  const std::string state = parameter(request, "state");
  for (const std::string_view cookie : kCookies) {
    const auto payload = uses_.secret->payload_of(kPurpose, cookie_in(request, cookie_name(origin, cookie)));
    if (!payload) continue;
    const auto document = json::Document::parse_view(*payload);
    if (!document) continue;
    const json::Value said = document->root();
    Begun begun{cookie,
                said["state"].str(),
                said["nonce"].str(),
                said["verifier"].str(),
                {said["origin"].str(), said["place"].str(), said["rules"].str(), {}},
                said["needs_issuer"].boolean()};
    const bool is_over = base::from_ms(said["until"].integer().value_or(0)) <= uses_.clock.now();
    if (!is_over && begun.way.origin == origin && equal_in_constant_time(state, begun.state)) return begun;
  }
  return std::nullopt;
}

void SignIn::come_back(const ExchangePtr& exchange, const ServerOptions& options,
                       const std::string& origin) const {
  const http::Request& request = exchange->request();
  auto begun = begun_by(request, origin);
  if (!begun)
    return exchange->reply(page_of_failure(400,
                                           "This is not the end of a sign-in that began in this browser "
                                           "within the last ten minutes. Sign in again.",
                                           kConsole));
  begun->way.client = client_address(options, request);
  const auto fail = [&](int status, std::string_view reason) {
    exchange->reply(begun->ending(page_of_failure(status, reason, begun->way.place)));
  };
  const std::string issuer = parameter(request, "iss"), error = parameter(request, "error");
  if (begun->way.rules != uses_.sessions.rules_id())
    return fail(400, "The rules for signing in have changed meanwhile. Sign in again.");
  // RFC 9207: another authorization server may have been mixed up with ours.
  if (issuer.empty() ? begun->needs_issuer : issuer != settings().rules.issuer) {
    if (may_log(begun->way, "a sign-in that another authorization server answered"))
      spdlog::warn("sign-in: refused: iss is {}", issuer.empty() ? "missing" : base::loggable_word(issuer));
    return fail(400, "The answer is of another authorization server.");
  }
  if (!error.empty()) {
    const std::string more = parameter(request, "error_description");
    if (may_log(begun->way, "a sign-in that the authorization server refused"))
      spdlog::warn("sign-in: refused by the authorization server: {} {}", base::loggable_word(error),
                   base::loggable(more));
    return fail(400,
                "The authorization server refused the sign-in: " + error + (more.empty() ? "" : ": " + more));
  }
  const std::string code = parameter(request, "code");
  if (code.empty() || code.size() > kCodeMax) {
    may_log(begun->way, "a sign-in without a code of the authorization server");
    return fail(400, "The authorization server's answer has no code.");
  }
  const bool is_first = tried_.with([&](auto& tried) {
    const bool is_known = tried.find(begun->state) != nullptr;
    if (!is_known) tried.put(begun->state, true);
    return !is_known;
  });
  if (!is_first) return fail(400, "This sign-in has ended before. Sign in again.");
  begun->seat = seat_of(network_of(begun->way.client));
  const bool runs = run(exchange, begun->seat,
                        [this, exchange, origin, begun = *begun] { redeem(exchange, origin, begun); });
  if (!runs) tried_.with([&](auto& tried) { tried.erase(begun->state); });  // a reload may try again
}

void SignIn::redeem(const ExchangePtr& exchange, const std::string& origin, const Begun& begun) const {
  const auto id_token = uses_.provider.redeem(
      {parameter(exchange->request(), "code"), begun.verifier, origin + std::string(kCallback)});
  if (id_token) return welcome(exchange, origin, begun, *id_token, true);
  if (may_log(begun.way, "a sign-in without an ID token of the authorization server"))
    spdlog::warn("sign-in: the authorization server gave no ID token: {}", reason_of(id_token.error()));
  exchange->reply(begun.ending(page_of_failure(
      502, "The authorization server did not complete the sign-in. Sign in again.", begun.way.place)));
}

void SignIn::welcome(const ExchangePtr& exchange, const std::string& origin, const Begun& begun,
                     const std::string& id_token, bool may_wait) const {
  const Settings settings = this->settings();
  auto person = uses_.issuers.read_id_token(settings.rules, begun.nonce, id_token);
  const bool is_pending = !person && person.error().code == base::ErrorCode::unavailable;
  if (is_pending && may_wait) {
    const bool waits =
        uses_.issuers.await_keys(settings.rules.issuer, [this, exchange, origin, begun, id_token] {
          run(exchange, begun.seat, [this, exchange, origin, begun, id_token] {
            welcome(exchange, origin, begun, id_token, false);
          });
        });
    if (waits) return;
    // They may have come in between.
    return welcome(exchange, origin, begun, id_token, false);
  }
  const auto fail = [&](int status, std::string_view reason) {
    exchange->reply(begun.ending(page_of_failure(status, reason, begun.way.place)));
  };
  if (!person) {
    const base::Error& error = person.error();
    spdlog::warn("sign-in: refused: {}", reason_of(error));
    if (error.code == base::ErrorCode::permission_denied)
      return fail(403,
                  "You have signed in, but your account has none of the roles that may use this server.");
    if (is_pending)
      return fail(503,
                  "The keys of the authorization server cannot be fetched at the moment. Sign in again.");
    return fail(502, "The authorization server's answer is not valid. Sign in again.");
  }
  const base::Timestamp now = uses_.clock.now();
  Session session{base::random_hex(16), std::move(person->token), std::move(person->name),
                  std::min(person->until, now + base::Duration(kSessionTimeMax)), begun.way.rules};
  const auto time = std::chrono::floor<std::chrono::seconds>(session.until - now);
  const std::string cookie = uses_.sessions.cookie_of(session);
  if (cookie.size() > kCookieMax) return fail(403, "Your account names more agents than a session can hold.");
  base::log_info({{"caller", session.token.caller.value}}, "signed in as {} for {} s",
                 name_of(session.token.role), time.count());
  http::Reply reply = page_that_leads_to(begun.way.place);
  reply.headers.emplace_back("Set-Cookie",
                             set_cookie(origin, kSessionCookie, cookie, attributes("Strict", time)));
  exchange->reply(begun.ending(std::move(reply)));
}

void SignIn::show_session(const ExchangePtr& exchange, const ServerOptions& options) const {
  const http::Request& request = exchange->request();
  if (!is_of_own_page(options, request))
    return exchange->reply(plain_error(403, "web pages of other origins may not see who has signed in"));
  const auto session = uses_.sessions.find(options, request);
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("signIn", true).member("issuer", settings().rules.issuer);
    if (!session) return;
    out.member("name", session->name).member("caller", session->token.caller.value);
    out.member("role", name_of(session->token.role)).member("expiresAt", base::to_rfc3339(session->until));
    out.member("csrf", uses_.sessions.csrf_of(*session));
  });
  exchange->reply(json_of(std::move(body)));
}

void SignIn::end_session(const ExchangePtr& exchange, const ServerOptions& options) const {
  const http::Request& request = exchange->request();
  const auto session = session_of(options, request);
  if (!is_of_own_page(options, request) || !session)
    return exchange->reply(plain_error(403, "only a page of this server that shows the session may end it"));
  if (*session) {
    uses_.sessions.end(**session);
    base::log_info({{"caller", (*session)->token.caller.value}}, "signed out");
  }
  http::Reply reply;
  reply.status = 204;
  reply.content_type.clear();
  reply.headers = {{"Cache-Control", "no-store"},
                   {"Set-Cookie", set_cookie(own_origin(options, request), kSessionCookie, "",
                                             attributes("Strict", std::chrono::seconds(0)))}};
  exchange->reply(std::move(reply));
}

}  // namespace baton::server::sign_in
