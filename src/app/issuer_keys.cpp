#include "app/issuer_keys.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "app/files.h"
#include "base/text.h"
#include "outbound/http_client.h"

namespace baton::app {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

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
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      calls_(std::move(proxy), counts, stop_fd_.get()),
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
  // The operator chose this URL, too.
  if (!due.keys_url.empty()) return get(due.keys_url, due.keys_url);
  const auto document = calls_.describe(due.issuer);
  if (!document) return fail(document.error());
  const auto url = url_in(*document, "jwks_uri");
  if (!url) return fail(url.error());
  return get(*url, due.issuer);
}

IssuerKeys::Fetched IssuerKeys::get(const std::string& url, const std::string& issuer) const {
  auto answer = calls_.get(url, issuer);
  if (!answer) return fail(answer.error());
  return server::JwtIssuers::Fetched{std::move(answer->body),
                                     max_age_in(outbound::header_of(*answer, "Cache-Control"))};
}

}  // namespace baton::app
