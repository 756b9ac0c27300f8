// The rules of a request that hold whatever makes it: a Call over an event loop, or a call that blocks.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/secret_mask.h"
#include "outbound/call_report.h"
#include "outbound/http_client.h"
#include "outbound/kept_connections.h"

namespace baton::outbound {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Fails with invalid_argument if the method or a header may not be sent.
base::Result<void> check_request(const HttpRequest& request);

// The target of the request's first line: a proxy gets the whole URL of a plain request (RFC 9112, 3.2.2).
std::string target_of(const HttpRequest& request, const Url& url);
// Host, and all others but those of the connection and the length of the body.
Headers headers_of(const HttpRequest& request, const Url& url);

// Asks the breaker. Fails with unavailable if it holds the request back.
base::Result<void> admit(const HttpRequest& request, CallReport& report);

// Connections of requests that may be repeated. `key_of` names the requests that may share one: their target,
// proxy and allowed addresses.
KeptConnections& kept_connections();
std::string key_of(const HttpRequest& request, const Url& url);

// The longest wait for more of the answer, beside the limits of each wait; zero: no limit.
std::chrono::milliseconds longest_silence(const HttpRequest& request);

// Begins the answer, masks what is shown of its head, and reports its status. The place of a redirect is kept
// as it came until `next_hop`.
void take_head(const HttpRequest& request, int status, Headers headers, HttpAnswer& answer,
               CallReport& report);

// Keeps the first `most` bytes of the body. Returns false once there are more.
bool keep(std::string& body, std::string_view piece, std::size_t most);

// Returns where a whole answer from `url` leads; nullopt if it is the result. `hops`: made so far.
std::optional<Url> next_hop(const HttpRequest& request, const Url& url, int hops, HttpAnswer& answer);

}  // namespace baton::outbound
