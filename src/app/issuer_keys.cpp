#include "app/issuer_keys.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "app/files.h"
#include "base/text.h"
#include "json/document.h"
#include "outbound/http_client.h"

namespace baton::app {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr milliseconds kFetchTime{5'000};

// Where an issuer may describe itself, in the order in which we look.
std::array<std::string, 2> discovery_urls(const std::string& issuer) {
  std::string plain = issuer;
  while (plain.ends_with('/')) plain.pop_back();
  // RFC 8414 inserts the well-known path before the issuer's own.
  const std::size_t path = std::min(plain.find('/', plain.find("//") + 2), plain.size());
  return {plain + "/.well-known/openid-configuration",
          plain.substr(0, path) + "/.well-known/oauth-authorization-server" + plain.substr(path)};
}

}  // namespace

std::chrono::seconds max_age_in(std::string_view cache_control) {
  constexpr std::string_view kName = "max-age=";
  while (!cache_control.empty()) {
    const std::size_t end = std::min(cache_control.find(','), cache_control.size());
    std::string_view one = cache_control.substr(0, end);
    cache_control.remove_prefix(std::min(end + 1, cache_control.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (!base::begins_with(one, kName)) continue;
    const auto seconds = base::number_in<std::int64_t>(one.substr(kName.size()));
    return std::chrono::seconds(seconds ? std::max<std::int64_t>(0, *seconds) : 0);
  }
  return std::chrono::seconds(0);
}

IssuerKeys::IssuerKeys(server::JwtIssuers& issuers, outbound::Proxy proxy, outbound::CallCounts& counts)
    : issuers_(issuers),
      proxy_(std::move(proxy)),
      counts_(counts),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { run(); }) {
  issuers_.set_on_due([this] {
    const std::lock_guard lock(mutex_);
    is_due_ = true;
    changed_.notify_one();
  });
}

IssuerKeys::~IssuerKeys() {
  issuers_.set_on_due({});
  const std::uint64_t one = 1;
  if (write(stop_fd_.get(), &one, sizeof one) < 0)
    spdlog::error("issuers: cannot interrupt a fetch; the server may take longer to stop");
  const std::lock_guard lock(mutex_);
  stops_ = true;
  changed_.notify_one();
}

void IssuerKeys::run() {
  pthread_setname_np(pthread_self(), "issuer-keys");
  while (true) {
    milliseconds wait{0};
    while (const auto due = issuers_.next_due(wait)) {
      try {
        issuers_.took(*due, fetch(*due));
      } catch (const std::exception& error) {
        issuers_.took(*due, fail(ErrorCode::internal, "an error of this program", error.what()));
      }
      const std::lock_guard lock(mutex_);
      if (stops_) return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, wait, [this] { return is_due_ || stops_; });
    if (stops_) return;
    is_due_ = false;
  }
}

IssuerKeys::Fetched IssuerKeys::fetch(const server::JwtIssuers::Due& due) const {
  if (!due.keys_file.empty()) {
    auto text = read_text_file(due.keys_file, jose::kJwkSetBytesMax);
    if (!text) return fail(text.error());
    return server::JwtIssuers::Fetched{std::move(*text), server::JwtIssuers::kAgeMin};
  }
  if (!due.keys_url.empty()) return get(due.keys_url, true);
  const auto url = keys_url_of(due.issuer);
  if (!url) return fail(url.error());
  return get(
      *url, outbound::origin_of(std::string_view(*url)) == outbound::origin_of(std::string_view(due.issuer)));
}

base::Result<std::string> IssuerKeys::keys_url_of(const std::string& issuer) const {
  base::Error first;
  for (const std::string& url : discovery_urls(issuer)) {
    const auto found = get(url, true);
    if (!found) {
      if (first.for_caller.empty()) first = found.error();
      continue;
    }
    const auto document = json::Document::parse_view(found->text);
    if (!document) return fail(ErrorCode::invalid_argument, "its discovery document is not JSON");
    if (document->root()["issuer"].string() != issuer)
      return fail(ErrorCode::invalid_argument, "its discovery document names another issuer");
    const std::string keys = document->root()["jwks_uri"].str();
    const auto parsed = outbound::parse_url(keys);
    const bool is_safe = parsed && (parsed->scheme == "https" || outbound::is_this_machine(parsed->host));
    if (is_safe) return keys;
    return fail(ErrorCode::invalid_argument, "its discovery document names no https URL of keys");
  }
  return fail(std::move(first));
}

IssuerKeys::Fetched IssuerKeys::get(const std::string& url, bool is_trusted) const {
  outbound::HttpRequest request;
  request.method = "GET";
  request.url = url;
  request.headers = {{"Accept", "application/json"}};
  request.total_timeout = kFetchTime;
  request.answer_max = jose::kJwkSetBytesMax + 1;
  if (is_trusted) request.policy = outbound::AddressPolicy::any();
  request.proxy = proxy_;
  request.follows_redirects = false;
  request.counts = &counts_;
  request.stop_fd = stop_fd_.get();
  auto answer = outbound::http_request(request);
  if (!answer) return fail(answer.error());
  if (answer->status != 200)
    return fail(ErrorCode::unavailable, "it answers with " + std::to_string(answer->status));
  return server::JwtIssuers::Fetched{std::move(answer->body),
                                     max_age_in(outbound::header_of(*answer, "Cache-Control"))};
}

}  // namespace baton::app
