// IssuerCalls: requests to authorization servers: their discovery documents, and what these name.
//
// The operator chose the issuer, so its origin may have any address; what it names elsewhere must be at a
// public one. Redirects are not followed. Threads: any; each call blocks, for at most five seconds.
#pragma once

#include <string>

#include "base/error.h"
#include "outbound/call_counts.h"
#include "outbound/http_client.h"
#include "outbound/proxy.h"

namespace baton::app {

class IssuerCalls {
 public:
  // `stop_fd`: ends calls once it is readable. `counts` must outlive it.
  IssuerCalls(outbound::Proxy proxy, outbound::CallCounts& counts, int stop_fd)
      : proxy_(std::move(proxy)), counts_(counts), stop_fd_(stop_fd) {}

  // Returns the issuer's document, by OpenID Connect Discovery or else by RFC 8414. Its `issuer` equals
  // `issuer` byte by byte.
  base::Result<std::string> describe(const std::string& issuer) const;
  // Sends the request to a URL that the configuration or the document of this issuer names. If the status of
  // the answer is not 200, fails with the reason that the server gave.
  base::Result<outbound::HttpAnswer> send(outbound::HttpRequest request, const std::string& issuer) const;
  base::Result<outbound::HttpAnswer> get(const std::string& url, const std::string& issuer) const;

 private:
  const outbound::Proxy proxy_;
  outbound::CallCounts& counts_;
  const int stop_fd_;
};

// The URL of this name in a discovery document: https, or this machine's. Fails with invalid_argument.
base::Result<std::string> url_in(std::string_view document, const char* name);

}  // namespace baton::app
