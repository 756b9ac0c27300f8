// IssuerKeys: fetches the keys of authorization servers when they are due.
//
// A key set is at a URL or in a file, or its URL is found by the issuer's discovery document.
//
// Threads: one of its own, which fetches one after the other. Lifetime: the issuers must outlive it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "app/issuer_calls.h"
#include "base/threads.h"
#include "base/unique_fd.h"
#include "outbound/call_counts.h"
#include "outbound/proxy.h"
#include "server/admission/jwt_issuers.h"

namespace baton::app {

class IssuerKeys {
 public:
  // `counts`: for the metrics of calls.
  IssuerKeys(server::JwtIssuers& issuers, outbound::Proxy proxy, outbound::CallCounts& counts);
  ~IssuerKeys();
  IssuerKeys(const IssuerKeys&) = delete;
  IssuerKeys& operator=(const IssuerKeys&) = delete;

 private:
  using Fetched = base::Result<server::JwtIssuers::Fetched>;
  void run();
  Fetched fetch(const server::JwtIssuers::Due& due) const;
  Fetched get(const std::string& url, const std::string& issuer) const;

  server::JwtIssuers& issuers_;
  const base::UniqueFd stop_fd_;
  const IssuerCalls calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_due_ = false, stops_ = false;  // guarded by the mutex
  base::Thread thread_;                  // last: it uses the rest
};

// The age that Cache-Control allows; 0: it names none.
std::chrono::seconds max_age_in(std::string_view cache_control);

}  // namespace baton::app
