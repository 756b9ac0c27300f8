// CertificateWatch: checks the files of an Identity's certificates once a second and on demand, and replaces
// the certificates when the files have changed. Logs each replacement and each failure.
//
// Threads: has its own thread, the only one that replaces certificates; `use` from any.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "http/tls/identity.h"

namespace baton::app {

class CertificateWatch {
 public:
  // Logs the certificates that are served now.
  explicit CertificateWatch(http::tls::Identity& identity);

  // Reads these files soon, whether or not they have changed.
  void use(http::tls::IdentityFiles files);

 private:
  void run(const std::stop_token& stop);
  void report(const std::optional<base::Result<void>>& result, bool was_asked);

  http::tls::Identity& identity_;
  std::string failure_;      // of the last check; empty: none
  bool is_reported_ = true;  // `failure_` was logged
  std::mutex mutex_;         // guards `asked_`
  std::condition_variable_any woken_;
  std::optional<http::tls::IdentityFiles> asked_;
  std::jthread thread_;
};

}  // namespace baton::app
