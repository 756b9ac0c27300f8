// Outbound HTTP: one request with a total deadline, an address check and a bounded answer.
//
// Threads: any; each call blocks until it is over (call.h has those that do not). Redirects are followed
// within an origin. A proxy is used only if the request names one. The deadline counts from the call and
// covers name resolution.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/secret_mask.h"
#include "outbound/address.h"
#include "outbound/breakers.h"
#include "outbound/byte_budget.h"
#include "outbound/call_counts.h"
#include "outbound/proxy.h"

namespace baton::outbound {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // without brackets
  int port = 0;
  std::string target;  // path and query, at least "/"
};

// Returns "host:port", with an IPv6 address in brackets.
std::string authority_of(const Url& url);
// Returns "https://host:port".
std::string origin_of(const Url& url);
// Does so for the text of a URL, or of the host and port of a gRPC interface; empty for any other text.
std::string origin_of(std::string_view url);

// Parses an absolute http or https URL without a user name; fails with invalid_argument for others. Drops the
// fragment.
base::Result<Url> parse_url(std::string_view text);
// Resolves a reference, such as a Location, against `base`: an absolute URL, "//host/...", "/path" or a
// relative path. Fails like parse_url.
base::Result<Url> resolved(const Url& base, std::string_view reference);

struct HttpRequest {
  std::string method = "POST";  // GET, POST or DELETE
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string content_type;
  std::chrono::milliseconds resolve_timeout{8'000};  // for the host's name
  std::chrono::milliseconds connect_timeout{5'000};  // for each of its addresses
  std::chrono::milliseconds total_timeout{15'000};
  std::size_t answer_max = 1 << 20;  // bytes of body kept; a longer answer is truncated without an error
  AddressPolicy policy;
  Proxy proxy;  // its URL is empty: the call is direct
  // Only the status matters: once the head is read, failures in the body are ignored.
  bool head_suffices = false;
  // Asked before each wait for more of the answer: its longest time. Zero: no limit of its own. May be empty.
  std::function<std::chrono::milliseconds()> patience;
  // The request does no harm if it arrives twice. So it may go over a connection that was kept after an
  // earlier request, and once more over a new one if that is lost before the answer begins.
  bool repeats_safely = false;
  // When this descriptor becomes readable, the call ends with `unavailable`; -1 means none. For calls that
  // block.
  int stop_fd = -1;
  // Follows redirects within the URL's origin: of GET, and 307 and 308 of any method. Each hop is checked
  // like the first. false: the redirect is the answer.
  bool follows_redirects = true;
  // Called when the connection is established; before that, no data has been sent. May be empty.
  std::function<void()> on_connected;
  // The breakers that admit the call and get its outcome; null: none. Must outlive the call.
  Breakers* breakers = nullptr;
  bool despite_breaker = false;  // sends the request even if the breaker is open
  // Counts the call's outcome; null: it is not counted. Must outlive the call.
  CallCounts* counts = nullptr;
  std::string counted_as;  // the name to count it under; empty: the URL's origin
  // Hides secrets in the answer's head and body; null: none. Shared with its owner, which may add secrets.
  std::shared_ptr<const base::SecretMask> mask;
  // Called when the breaker holds the request back, with the time after which it may be made; the call then
  // fails with `unavailable`. May be empty.
  std::function<void(std::chrono::milliseconds)> on_held;
  // Counts the bytes of an answer that may be large; null: they are not counted. They stay reserved after the
  // call, until its caller reports how many it keeps (Intake::keep). Must outlive the call.
  Intake* intake = nullptr;
};

struct HttpAnswer {
  int status = 0;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string moved_to;  // of a redirect that was not followed: the new place; empty: it says none
};

// Returns the first header with this name; empty if there is none.
std::string header_of(const HttpAnswer& answer, std::string_view name);

// Returns true if a call with this `stop_fd` must end.
bool is_stopped(int stop_fd);

// Returns the seconds in Retry-After, at most an hour; 0 without one. Dates are ignored.
std::chrono::seconds retry_after(const HttpAnswer& answer);

// Fails with: invalid_argument (URL, method or header), permission_denied (address), deadline_exceeded,
// unavailable, too_large (Intake).
base::Result<HttpAnswer> http_request(const HttpRequest& request);

// Like `http_request`, for long answers. `on_data` gets the body in pieces and returns false to stop, which
// is not an error. `idle_timeout` limits each wait. Zero means no limit for a wait, and for `total_timeout`
// no total deadline. The returned body is empty if the status is 2xx. With an intake, `on_data` must report
// how many bytes it keeps (Intake::keep).
base::Result<HttpAnswer> http_stream(const HttpRequest& request, std::chrono::milliseconds idle_timeout,
                                     const std::function<bool(std::string_view)>& on_data);

}  // namespace baton::outbound
