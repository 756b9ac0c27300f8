#include "app/certificate_watch.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "base/clock.h"

namespace baton::app {
namespace {

constexpr std::chrono::seconds kLookPause(1);

void log_certificates(const http::tls::Contexts& contexts) {
  const base::Timestamp now = base::SystemClock().now();
  for (const http::tls::Certificate& each : contexts.certificates()) {
    std::string names;
    for (const std::string& name : each.names()) names.append(names.empty() ? "" : ", ").append(name);
    const std::string begin = base::to_rfc3339(each.begins()), end = base::to_rfc3339(each.ends());
    if (each.is_valid_at(std::chrono::time_point_cast<std::chrono::seconds>(now))) {
      spdlog::info("tls: {} for {} is valid until {}", each.file(), names.empty() ? "no host" : names, end);
    } else if (each.ends() <= now) {
      spdlog::error("tls: {} has expired at {}; clients will refuse it", each.file(), end);
    } else {
      spdlog::error("tls: {} is not valid before {}; clients will refuse it", each.file(), begin);
    }
  }
}

}  // namespace

CertificateWatch::CertificateWatch(http::tls::Identity& identity) : identity_(identity) {
  log_certificates(*identity.contexts());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void CertificateWatch::use(http::tls::IdentityFiles files) {
  const std::lock_guard lock(mutex_);
  asked_ = std::move(files);
  woken_.notify_one();
}

void CertificateWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<http::tls::IdentityFiles> asked;
    {
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, stop, kLookPause, [&] { return asked_.has_value(); });
      asked = std::exchange(asked_, std::nullopt);
    }
    if (stop.stop_requested()) return;
    report(asked ? std::optional(identity_.reload(std::move(*asked))) : identity_.look(), asked.has_value());
  }
}

// A certificate and its key may be replaced one after the other. So a failure is logged only if the next
// check fails in the same way, or if `use` has asked for the check.
void CertificateWatch::report(const std::optional<base::Result<void>>& result, bool was_asked) {
  if (!result || *result) {
    failure_.clear();
    if (result) log_certificates(*identity_.contexts());
    return;
  }
  const std::string& failure = result->error().for_log;
  const bool is_known = std::exchange(failure_, failure) == failure;
  if (!is_known) is_reported_ = false;
  if ((!is_known && !was_asked) || std::exchange(is_reported_, true)) return;
  spdlog::error("tls: the certificates were not replaced: {}", failure);
}

}  // namespace baton::app
