#include "outbound/credentials.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "jose/signing_key.h"
#include "json/document.h"
#include "outbound/call.h"
#include "outbound/http_client.h"
#include "outbound/outcome.h"
#include "outbound/refusal.h"

namespace baton::outbound {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kTokenAnswerMax = std::size_t{64} << 10;
constexpr std::size_t kTokenMax = std::size_t{16} << 10;
constexpr std::int64_t kLifetime = 300;            // of a token without expires_in, in seconds
constexpr std::int64_t kLifetimeMax = 24 * 3'600;  // after which it is fetched anew, whatever its expiry
constexpr std::int64_t kLifeMargin = 60;           // before its expiry, but at most a tenth of its life
constexpr std::size_t kHiddenMax = 8;              // secrets and tokens that are masked in answers
constexpr std::size_t kQueryValueMin = 16;         // in a URL's query; shorter ones are words
constexpr std::string_view kConsent = "Follow the link to allow it. Then send this task a message.";
constexpr std::string_view kAnswer =
    "Send this task a message, with a new access token in the header Authorization.";
constexpr milliseconds kLook{50};  // how soon a waiting thread sees that its turn is to stop

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  if (line.ends_with('\r')) line.pop_back();
  return std::string(base::without_mark(line));
}

// One byte more than a key may have is enough to see that it is too large.
std::string key_in(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(jose::kSigningKeyBytesMax + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

// The secret, or the text of the private key. Empty if it is missing.
std::string secret_of(const Server& server) {
  if (!server.private_key_file.empty()) return key_in(server.private_key_file);
  if (!server.secret_file.empty()) return first_line(server.secret_file);
  const char* value = std::getenv(server.secret_env.c_str());
  return value ? value : "";
}

auto refused(std::string text) {
  return tl::unexpected(TokenError{std::move(text)});
}

// The values in a URL's query that may be keys.
std::vector<std::string> keys_in(std::string_view url) {
  std::vector<std::string> keys;
  for (std::size_t at = url.find('?'); at != std::string_view::npos; at = url.find('&', at + 1)) {
    std::string_view pair = url.substr(at + 1);
    pair = pair.substr(0, pair.find_first_of("&#"));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.size() - equals <= kQueryValueMin) continue;
    keys.push_back(
        base::percent_decoded(pair.substr(equals + 1)).value_or(std::string(pair.substr(equals + 1))));
  }
  return keys;
}

// `expires_in`, which some servers write as a string (Entra ID's v1 endpoint, Apigee).
std::optional<std::int64_t> seconds_in(json::Value life) {
  return life.is_string() ? base::number_in<std::int64_t>(life.string()) : life.integer();
}

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kTokenMax &&
         std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Credentials::Credentials(Server server, Rules rules) : server_(std::move(server)), rules_(std::move(rules)) {
  for (const std::string& key : keys_in(server_.url)) hide(key);
}

Credentials::Credentials(Server server, Rules rules, ForCaller caller)
    : server_(std::move(server)), rules_(std::move(rules)), caller_(std::move(caller)) {
  for (const std::string& key : keys_in(server_.url)) hide(key);
}

bool Credentials::missing() const {
  if (!wanted() || server_.secret_optional) return false;
  const std::string secret = secret_of(server_);
  return server_.private_key_file.empty() ? secret.empty() : !jose::read_signing_key(secret);
}

std::shared_ptr<Credentials> Credentials::of(const task::SubjectTokenPtr& subject) {
  if (server_.exchange == Server::Exchange::none || caller_) return shared_from_this();
  // The constructor is private, which make_shared cannot use.
  const auto make = [&] {
    return std::shared_ptr<Credentials>(new Credentials(server_, rules_, ForCaller{subject}));
  };
  if (!subject) return make();
  const std::string digest = base::sha256_bytes(subject->text);
  const std::lock_guard lock(mutex_);
  if (const auto* known = of_callers_.find(digest)) return *known;
  return of_callers_.put(digest, make());
}

std::optional<CallerAsk> Credentials::ask_after_refusal() const {
  if (!caller_ || server_.authorize_url.empty()) return std::nullopt;
  return CallerAsk{"The server of this agent does not let it act for you yet. " + std::string(kConsent),
                   server_.authorize_url};
}

// Why no exchange can be asked for.
std::optional<TokenError> Credentials::without_subject() const {
  if (!caller_ || (caller_->subject && base::SystemClock().now() < caller_->subject->until))
    return std::nullopt;
  TokenError error{caller_->subject ? "the caller's access token has expired"
                                    : "the caller has no access token"};
  error.asks.emplace(
      CallerAsk{"This agent acts for you with your own access token, " +
                    std::string(caller_->subject ? "which has expired. " : "and has none of yours now. ") +
                    std::string(kAnswer),
                {}});
  return error;
}

// An exchange that was refused because of the caller may succeed later.
TokenError Credentials::refused_exchange(const HttpAnswer& answer, TokenError error) const {
  const auto document = json::Document::view_of(answer.body);
  if (!caller_ || answer.status < 400 || answer.status > 499 ||
      !is_about_the_caller(document.root()["error"].string()))
    return error;
  const bool has_place = !server_.authorize_url.empty();
  error.asks.emplace(CallerAsk{"This agent acts for you with your own access token, but " + error.text +
                                   ". " + std::string(has_place ? kConsent : kAnswer),
                               server_.authorize_url});
  return error;
}

Credentials::Token Credentials::find(int stop_fd, bool despite_breaker) {
  if (!wanted() || lacks_caller()) return std::string();
  if (server_.auth == Server::Auth::oauth) return find_token(stop_fd, despite_breaker);
  std::string secret = secret_of(server_);
  if (secret.empty() && !server_.secret_optional) return refused("its key is missing");
  hide(secret);
  return secret;
}

bool Credentials::renew(const std::string& token) {
  if (server_.auth != Server::Auth::oauth || lacks_caller()) return false;
  const std::lock_guard lock(mutex_);
  if (kept_.token == token) kept_ = {};
  return true;
}

std::shared_ptr<const base::SecretMask> Credentials::mask() const {
  const std::lock_guard lock(mutex_);
  return mask_;
}

// Adds a secret to the mask. At the limit, the oldest one is dropped.
void Credentials::hide(const std::string& secret) {
  if (secret.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!hidden_.empty() && hidden_.back() == secret) return;
  std::erase(hidden_, secret);
  hidden_.push_back(secret);
  if (hidden_.size() > kHiddenMax) hidden_.erase(hidden_.begin());
  mask_ = std::make_shared<const base::SecretMask>(hidden_);
}

// A thread that waits for another thread's fetch uses its result, unless that fetch was stopped.
Credentials::Token Credentials::find_token(int stop_fd, bool despite_breaker) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!kept_.token.empty() && Clock::now() < kept_.until) return kept_.token;
    if (!fetching_) break;
    const int before = fetches_;
    const auto is_over = [&] { return fetches_ != before; };
    while (!changed_.wait_for(lock, kLook, is_over)) {
      if (is_stopped(stop_fd)) return tl::unexpected(TokenError{.text = "told to stop", .may_come = true});
    }
    if (failed_) return tl::unexpected(*failed_);
    if (!kept_.token.empty()) return kept_.token;
  }
  fetching_ = true;
  kept_ = {};
  lock.unlock();
  auto fetched = fetch(stop_fd, despite_breaker);
  if (fetched) hide(fetched->token);
  lock.lock();
  fetching_ = false;
  ++fetches_;
  failed_.reset();
  if (fetched) kept_ = *fetched;
  if (!fetched && !is_stopped(stop_fd)) failed_ = fetched.error();
  changed_.notify_all();
  if (!fetched) return tl::unexpected(fetched.error());
  return fetched->token;
}

tl::expected<Credentials::Kept, TokenError> Credentials::fetch(int stop_fd, bool despite_breaker) {
  {
    std::string secret = secret_of(server_);
    const std::lock_guard lock(mutex_);
    secret_at_hand_ = std::move(secret);
  }
  const auto request = token_request(despite_breaker);
  if (!request) return tl::unexpected(request.error());
  (*request)->stop_fd = stop_fd;
  milliseconds held{0};
  (*request)->on_held = [&](milliseconds time) { held = time; };
  const auto begun = Clock::now();
  return read_token(http_request(**request), begun, held);
}

tl::expected<std::shared_ptr<HttpRequest>, TokenError> Credentials::token_request(bool despite_breaker) {
  std::string secret;
  {
    const std::lock_guard lock(mutex_);
    secret = secret_at_hand_;
  }
  if (secret.empty()) return refused("its key is missing");
  if (auto error = without_subject()) return tl::unexpected(std::move(*error));
  const std::string subject = caller_ ? caller_->subject->text : std::string();
  auto text = outbound::token_request(server_, secret, subject, base::SystemClock().now());
  if (!text) return refused("its private key cannot be used: " + text.error().for_caller);
  // A private key is not sent, and an assertion not to the agent.
  if (server_.private_key_file.empty()) hide(secret);
  if (!text->authorization.empty()) hide(text->authorization.substr(text->authorization.find(' ') + 1));
  const auto made = std::make_shared<HttpRequest>(rules_.request_to(server_.token_url));
  HttpRequest& request = *made;
  request.despite_breaker = despite_breaker;
  request.answer_max = kTokenAnswerMax;
  request.content_type = "application/x-www-form-urlencoded";
  request.headers.emplace_back("Accept", "application/json");
  request.body = std::move(text->body);
  if (!text->authorization.empty())
    request.headers.emplace_back("Authorization", std::move(text->authorization));
  // Not the tokens of earlier answers: an endpoint may give the same one again.
  request.mask = std::make_shared<const base::SecretMask>(text->secrets);
  return made;
}

tl::expected<Credentials::Kept, TokenError> Credentials::read_token(const base::Result<HttpAnswer>& answer,
                                                                    Clock::time_point begun,
                                                                    milliseconds held) const {
  if (!answer) {
    TokenError error{"its token endpoint cannot be reached: " + answer.error().for_caller};
    error.may_come = answer.error().code == base::ErrorCode::unavailable ||
                     answer.error().code == base::ErrorCode::deadline_exceeded;
    error.held = held.count() > 0;
    error.retry_after = held;
    return tl::unexpected(std::move(error));
  }
  const auto document = json::Document::view_of(answer->body);
  const json::Value root = document.root();
  // Some servers report errors with status 200 (GitHub).
  const bool is_error = root["access_token"].absent() && root["error"].is_string();
  if (answer->status != 200 || is_error) {
    std::string secret;
    if (server_.private_key_file.empty()) {
      const std::lock_guard lock(mutex_);
      secret = secret_at_hand_;
    }
    auto error = refused("its token endpoint refused the request: " +
                         refusal_text(*answer, {.secret = secret, .is_about_keys = true}))
                     .value();
    error.may_come = may_pass(answer->status);
    error.retry_after = retry_after(*answer);
    return tl::unexpected(refused_exchange(*answer, std::move(error)));
  }
  Kept kept{root["access_token"].str()};
  const bool is_bearer =
      root["token_type"].absent() || base::same_word(root["token_type"].string(), "Bearer");
  // An exchange may make tokens of other kinds.
  const std::string_view kind = root["issued_token_type"].string();
  const bool is_access = kind.empty() || kind.ends_with(":access_token") || kind.ends_with(":jwt");
  if (!is_token(kept.token) || !is_bearer || !is_access)
    return refused("its token endpoint returned an invalid answer");
  const std::int64_t life =
      std::clamp<std::int64_t>(seconds_in(root["expires_in"]).value_or(kLifetime), 0, kLifetimeMax);
  kept.until = begun + std::chrono::seconds(life) -
               std::min(std::chrono::seconds(kLifeMargin), std::chrono::seconds(life) / 10);
  return kept;
}

// ---- On an event loop

struct Credentials::Fetch {
  std::optional<Call> call;
  const Clock::time_point begun = Clock::now();
  milliseconds held{0};
  std::list<Wait*> waits;
};

Credentials::~Credentials() = default;

std::optional<Credentials::Token> Credentials::at_hand() {
  if (server_.auth != Server::Auth::oauth || lacks_caller()) return find(-1, false);
  std::string secret = secret_of(server_);
  {
    const std::lock_guard lock(mutex_);
    secret_at_hand_ = std::move(secret);
  }
  return kept_token();
}

std::optional<std::string> Credentials::kept_token() const {
  const std::lock_guard lock(mutex_);
  if (kept_.token.empty() || Clock::now() >= kept_.until) return std::nullopt;
  return kept_.token;
}

std::unique_ptr<Credentials::Wait> Credentials::fetch(base::EventLoop& loop, bool despite_breaker,
                                                      std::function<void(Token)> done) {
  if (under_way_) return std::make_unique<Wait>(*this, under_way_, std::move(done));
  // A fetch may have ended since the caller looked.
  if (auto token = kept_token()) {
    done(*std::move(token));
    return nullptr;
  }
  auto request = token_request(despite_breaker);
  if (!request) {
    done(tl::unexpected(request.error()));
    return nullptr;
  }
  under_way_ = std::make_shared<Fetch>();
  auto wait = std::make_unique<Wait>(*this, under_way_, std::move(done));
  Fetch& fetch = *under_way_;
  (*request)->on_held = [&fetch](milliseconds time) { fetch.held = time; };
  fetch.call.emplace(loop, std::move(*request), milliseconds(0),
                     Call::Events{{}, [this, &fetch](const base::Result<HttpAnswer>& answer) {
                                    end_fetch(read_token(answer, fetch.begun, fetch.held));
                                  }});
  fetch.call->start();
  return wait;
}

// Each of those that wait may end the waits of others, and the life of this.
void Credentials::end_fetch(const tl::expected<Kept, TokenError>& fetched) {
  if (fetched) {
    hide(fetched->token);
    const std::lock_guard lock(mutex_);
    kept_ = *fetched;
  }
  const std::shared_ptr<Fetch> over = std::move(under_way_);
  while (!over->waits.empty()) {
    Wait& first = *over->waits.front();
    over->waits.pop_front();
    const auto done = std::exchange(first.done_, nullptr);
    if (fetched) done(fetched->token);
    if (!fetched) done(tl::unexpected(fetched.error()));
  }
}

Credentials::Wait::Wait(Credentials& credentials, std::shared_ptr<Fetch> fetch,
                        std::function<void(Token)> done)
    : credentials_(credentials), fetch_(std::move(fetch)), done_(std::move(done)) {
  fetch_->waits.push_back(this);
}

// A fetch that nobody waits for is given up.
Credentials::Wait::~Wait() {
  if (!done_) return;
  fetch_->waits.remove(this);
  if (!fetch_->waits.empty()) return;
  fetch_->call.reset();
  if (credentials_.under_way_ == fetch_) credentials_.under_way_.reset();
}

}  // namespace baton::outbound
