#include "outbound/credentials.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
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
constexpr std::int64_t kLifeMargin = 30;           // before its expiry, but at most a tenth of its life
constexpr std::size_t kHiddenMax = 8;              // secrets and tokens that are masked in answers
constexpr std::size_t kQueryValueMin = 16;         // in a URL's query; shorter ones are words
constexpr milliseconds kLook{50};                  // how soon a waiting thread sees that its turn is to stop

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  if (line.ends_with('\r')) line.pop_back();
  return std::string(base::without_mark(line));
}

// Empty if it is missing.
std::string secret_of(const Server& server) {
  if (!server.secret_file.empty()) return first_line(server.secret_file);
  const char* value = std::getenv(server.secret_env.c_str());
  return value ? value : "";
}

auto refused(std::string text) {
  return tl::unexpected(TokenError{std::move(text)});
}

std::string form(const Server& server, const std::string& secret) {
  std::string body = "grant_type=client_credentials";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) body.append("&").append(name).append("=").append(base::percent_encoded(value));
  };
  add("scope", server.scope);
  add("audience", server.audience);
  if (server.secret_in_body) add("client_id", server.client_id);
  if (server.secret_in_body) add("client_secret", secret);
  return body;
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

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kTokenMax &&
         std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Credentials::Credentials(Server server, Rules rules) : server_(std::move(server)), rules_(std::move(rules)) {
  for (const std::string& key : keys_in(server_.url)) hide(key);
}

bool Credentials::missing() const {
  return wanted() && !server_.secret_optional && secret_of(server_).empty();
}

Credentials::Token Credentials::find(int stop_fd, bool despite_breaker) {
  if (!wanted()) return std::string();
  if (server_.auth == Server::Auth::oauth) return find_token(stop_fd, despite_breaker);
  std::string secret = secret_of(server_);
  if (secret.empty() && !server_.secret_optional) return refused("its key is missing");
  hide(secret);
  return secret;
}

bool Credentials::renew(const std::string& token) {
  if (server_.auth != Server::Auth::oauth) return false;
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
  hide(secret);
  const auto made = std::make_shared<HttpRequest>(rules_.request_to(server_.token_url));
  HttpRequest& request = *made;
  request.despite_breaker = despite_breaker;
  request.answer_max = kTokenAnswerMax;
  request.content_type = "application/x-www-form-urlencoded";
  request.headers.emplace_back("Accept", "application/json");
  request.body = form(server_, secret);
  if (!server_.secret_in_body) {
    const std::string pair = base::percent_encoded(server_.client_id) + ":" + base::percent_encoded(secret);
    const std::string encoded = base::encode_base64(pair);
    hide(encoded);
    request.headers.emplace_back("Authorization", "Basic " + encoded);
  }
  request.mask = mask();
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
  if (answer->status != 200) {
    std::string secret;
    {
      const std::lock_guard lock(mutex_);
      secret = secret_at_hand_;
    }
    auto error = refused("its token endpoint refused the request: " +
                         refusal_text(*answer, {.secret = secret, .is_about_keys = true}))
                     .value();
    error.may_come = may_pass(answer->status);
    error.retry_after = retry_after(*answer);
    return tl::unexpected(std::move(error));
  }
  const auto document = json::Document::view_of(answer->body);
  const json::Value root = document.root();
  Kept kept{root["access_token"].str()};
  const bool is_bearer =
      root["token_type"].absent() || base::same_word(root["token_type"].string(), "Bearer");
  if (!is_token(kept.token) || !is_bearer) return refused("its token endpoint returned an invalid answer");
  const std::int64_t life =
      std::clamp<std::int64_t>(root["expires_in"].integer().value_or(kLifetime), 0, kLifetimeMax);
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
  if (server_.auth != Server::Auth::oauth) return find(-1, false);
  std::string secret = secret_of(server_);
  const std::lock_guard lock(mutex_);
  secret_at_hand_ = std::move(secret);
  if (kept_.token.empty() || Clock::now() >= kept_.until) return std::nullopt;
  return kept_.token;
}

std::unique_ptr<Credentials::Wait> Credentials::fetch(base::EventLoop& loop, bool despite_breaker,
                                                      std::function<void(Token)> done) {
  if (under_way_) return std::make_unique<Wait>(*this, under_way_, std::move(done));
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
