#include "outbound/http_client.h"

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/text.h"
#include "http/http_text.h"
#include "outbound/answer_stream.h"
#include "outbound/call_report.h"
#include "outbound/kept_connections.h"
#include "outbound/tls.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

// Gets the answer's status and a piece of its body. Returns false to stop reading without an error.
using BodySink = std::function<bool(int status, std::string_view piece)>;

// Runs the library's request writer and answer reader on our own stream. The library's own sockets have
// timeouts only for single reads, and would resolve the name a second time.
class Roundtrip final : private httplib::ClientImpl {
 public:
  explicit Roundtrip(const Url& url) : ClientImpl(url.host, url.port) {
    set_url_encode(false);  // send the target exactly as it was checked
    set_decompress(false);  // a small answer must not expand
  }
  bool run(httplib::Stream& stream, httplib::Request& request, httplib::Response& response, bool stays_open) {
    httplib::Error ignored = httplib::Error::Success;
    return process_request(stream, request, response, !stays_open, ignored);
  }
};

// Rejects control characters: a line end in a value could inject another header.
bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

// Reserved headers determine where the request goes and where it ends, so only this file sets them.
bool is_reserved_header(std::string_view name) {
  constexpr std::array kReserved{"Host", "Content-Length", "Transfer-Encoding", "Connection",
                                 "Proxy-Authorization"};
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view reserved) { return base::same_word(name, reserved); });
}

base::Result<void> check(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST" && request.method != "DELETE") {
    return fail(ErrorCode::invalid_argument, "only GET, POST and DELETE requests are supported");
  }
  if (!is_header_value(request.content_type)) {
    return fail(ErrorCode::invalid_argument, "the content type contains invalid characters");
  }
  for (const auto& [name, value] : request.headers) {
    if (!base::is_token(name) || is_reserved_header(name) || !is_header_value(value)) {
      return fail(ErrorCode::invalid_argument, "a header contains invalid characters", name);
    }
  }
  return {};
}

std::string host_header(const Url& url) {
  const std::string authority = authority_of(url);
  const bool is_usual = url.port == (url.scheme == "https" ? 443 : 80);
  return is_usual ? authority.substr(0, authority.rfind(':')) : authority;
}

httplib::Request to_library(const HttpRequest& from, const Url& url) {
  httplib::Request request;
  request.method = from.method;
  request.path = url.target;
  if (url.scheme == "http" && from.proxy.serves(url)) {
    request.path.insert(0, "http://" + host_header(url));
    const std::string login = from.proxy.authorization();
    if (!login.empty()) request.headers.emplace("Proxy-Authorization", login);
  }
  request.headers.emplace("Host", host_header(url));
  for (const auto& [name, value] : from.headers) request.headers.emplace(name, value);
  if (!request.has_header("User-Agent")) request.headers.emplace("User-Agent", "Baton");
  if (!from.content_type.empty()) request.headers.emplace("Content-Type", from.content_type);
  request.body = from.body;
  return request;
}

// The first hop of a connection: the server, or the proxy that serves it.
struct FirstHop {
  Url place;
  AddressPolicy policy;
  const Proxy* proxy = nullptr;
};

base::Result<FirstHop> first_hop(const HttpRequest& request, const Url& url) {
  if (!request.proxy.serves(url)) return FirstHop{url, request.policy};
  if (const auto checked = check_target(url, request.policy, request.proxy); !checked)
    return fail(checked.error());
  auto place = parse_url(request.proxy.url);
  if (!place) return fail(place.error());
  return FirstHop{std::move(*place), AddressPolicy::any(), &request.proxy};
}

// Makes a channel to the server of a connection to the first hop. A proxy gets plain requests as a whole
// (RFC 9112, 3.2.2), and tunnels of TLS: proxies commonly tunnel to port 443 only.
base::Result<std::unique_ptr<Channel>> secured(std::unique_ptr<Socket> socket, const Url& url,
                                               const Proxy* proxy) {
  if (url.scheme == "http") return std::unique_ptr<Channel>(std::move(socket));
  if (proxy != nullptr) {
    if (const auto opened = open_tunnel(*socket, url, proxy->authorization()); !opened)
      return fail(opened.error());
  }
  auto tls = TlsChannel::open(std::move(socket), url.host);
  if (!tls) return fail(tls.error());
  return std::unique_ptr<Channel>(std::move(*tls));
}

// Resolves the name once and dials exactly the addresses that were checked. One that accepts the connection
// but does not speak TLS leaves the others.
base::Result<std::unique_ptr<Channel>> dial(const HttpRequest& request, const Url& url,
                                            const WaitLimits& limits) {
  const auto hop = first_hop(request, url);
  if (!hop) return fail(hop.error());
  WaitLimits look_up = limits;
  const auto latest = std::chrono::steady_clock::now() + request.resolve_timeout;
  look_up.deadline = std::min(limits.deadline.value_or(latest), latest);
  auto addresses = resolve_allowed(hop->place, hop->policy, look_up);
  if (!addresses) return fail(addresses.error());
  while (true) {
    auto socket = Socket::connect(*addresses, hop->place.port, request.connect_timeout, limits);
    if (!socket && hop->proxy != nullptr)
      return fail(socket.error().code, "the proxy cannot be reached: " + socket.error().for_caller);
    if (!socket) return fail(socket.error());
    std::erase(*addresses, (*socket)->address());
    auto channel = secured(std::move(*socket), url, hop->proxy);
    const bool is_last = channel || channel.error().code != ErrorCode::unavailable || addresses->empty();
    if (is_last || is_stopped(limits.stop_fd)) return channel;
  }
}

// RFC 9112, 6.3: answers with these statuses have no body, whatever their headers say.
bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

void take_head(const httplib::Response& from, const base::SecretMask* mask, HttpAnswer& answer) {
  answer.status = from.status;
  answer.content_type = from.get_header_value("Content-Type");
  answer.headers.assign(from.headers.begin(), from.headers.end());
  answer.moved_to = from.get_header_value("Location");
  if (mask == nullptr) return;
  answer.content_type = mask->masked(answer.content_type);
  for (auto& [name, value] : answer.headers) value = mask->masked(value);
}

// Returns whether the server keeps the connection open, and the end of the answer was not that of the stream.
bool stays_open(const httplib::Response& answer) {
  const bool has_end = answer.has_header("Content-Length") || answer.has_header("Transfer-Encoding") ||
                       has_no_body(answer.status);
  return answer.version == "HTTP/1.1" && has_end &&
         !http::list_has(answer.get_header_value("Connection"), "close");
}

// How a conversation over a channel ended.
struct Conversed {
  base::Result<HttpAnswer> answer;
  bool has_begun = false;  // a byte of the answer was read
  bool may_keep = false;   // the channel can serve another request
};

Conversed converse(const HttpRequest& request, const Url& url, Channel& channel, const WaitLimits& limits,
                   const BodySink& sink, CallReport& report) {
  HttpAnswer answer;
  if (request.intake != nullptr) request.intake->keep(0);
  AnswerStream stream(channel, request.intake, limits, request.patience);
  base::SecretMask::Pieces shown(request.mask);
  bool over = false;  // we stopped reading on purpose
  httplib::Request out = to_library(request, url);
  out.response_handler = [&](const httplib::Response& head) {
    stream.end_head();
    take_head(head, request.mask.get(), answer);
    report.answered(answer.status, retry_after(answer).count() > 0);
    over = has_no_body(head.status);
    return !over;
  };
  out.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    const std::string_view piece(data, size);
    over = !(request.mask ? sink(answer.status, shown.next(piece)) : sink(answer.status, piece));
    return !over;
  };
  httplib::Response in;
  const bool complete = Roundtrip(url).run(stream, out, in, request.repeats_safely);
  if (complete && answer.status == 0)
    take_head(in, request.mask.get(), answer);  // the library does not pass on the head of a 204
  if (const std::string rest = shown.end(); complete && !rest.empty()) (void)sink(answer.status, rest);
  const bool enough = request.head_suffices && answer.status != 0;
  const bool may_keep = complete && request.repeats_safely && stays_open(in) && stream.can_go_on();
  if (complete || over || enough) return {std::move(answer), true, may_keep};
  if (stream.failure()) return {fail(*stream.failure()), stream.has_begun()};
  return {fail(ErrorCode::unavailable, "the server sent no valid answer"), stream.has_begun()};
}

KeptConnections& kept_connections() {
  static KeptConnections kept;
  return kept;
}

// Names what a connection is good for: where it leads, by which way, and which addresses were allowed.
std::string key_of(const HttpRequest& request, const Url& url) {
  const AddressPolicy& policy = request.policy;
  std::string key = origin_of(url);
  for (const bool is_allowed :
       {policy.allow_private, policy.allow_metadata, policy.allow_low_ports, policy.allow_loopback})
    key += is_allowed ? " 1" : " 0";
  if (request.proxy.serves(url)) key += " " + request.proxy.url + " " + request.proxy.secret_env;
  return key;
}

// Makes a request over a kept connection, if there is one that works, or else a new one.
base::Result<HttpAnswer> perform_admitted(const HttpRequest& request, const Url& url,
                                          const WaitLimits& limits, const BodySink& sink,
                                          CallReport& report) {
  const std::string key = request.repeats_safely ? key_of(request, url) : std::string();
  KeptConnections::Connection kept;
  if (request.repeats_safely) kept = kept_connections().take(key);
  for (;;) {
    const bool was_kept = kept.channel != nullptr;
    const auto opened = was_kept ? kept.opened : std::chrono::steady_clock::now();
    base::Result<std::unique_ptr<Channel>> channel = std::move(kept.channel);
    if (!was_kept) channel = dial(request, url, limits);
    if (!channel) {
      report.lost(channel.error(), false, is_stopped(request.stop_fd));
      return fail(channel.error());
    }
    (*channel)->begin(limits);
    if (request.on_connected) request.on_connected();
    Conversed ended = converse(request, url, **channel, limits, sink, report);
    if (ended.may_keep) kept_connections().keep(key, {std::move(*channel), opened});
    if (ended.answer) {
      report.answered(ended.answer->status, retry_after(*ended.answer).count() > 0);
      return std::move(ended.answer);
    }
    const bool was_closed =
        was_kept && !ended.has_begun && ended.answer.error().code == ErrorCode::unavailable;
    if (was_closed && !is_stopped(request.stop_fd)) continue;
    report.lost(ended.answer.error(), true, is_stopped(request.stop_fd));
    return std::move(ended.answer);
  }
}

// Makes one request, to `url`, without following redirects.
base::Result<HttpAnswer> perform_one(const HttpRequest& request, const Url& url, const WaitLimits& limits,
                                     const BodySink& sink) {
  CallReport report(request.breakers, request.counts, origin_of(url), request.counted_as);
  if (const milliseconds held = report.admit(request.despite_breaker); held.count() > 0) {
    if (request.on_held) request.on_held(held);
    return fail(CallReport::held_back());
  }
  try {
    return perform_admitted(request, url, limits, sink, report);
  } catch (const std::exception& error) {
    return fail(ErrorCode::unavailable, "the request failed", error.what());
  }
}

// Returns whether a request with this method may go to the place that an answer with this status names.
bool is_redirect(const std::string& method, int status) {
  if (status == 307 || status == 308) return true;
  return method == "GET" && (status == 301 || status == 302 || status == 303);
}

// `body` receives the part of the answer's body that `sink` keeps; it is emptied before each request.
base::Result<HttpAnswer> perform(const HttpRequest& request, const WaitLimits& limits, std::string& body,
                                 const BodySink& sink) {
  constexpr int kHopsMax = 5;
  auto url = parse_url(request.url);
  if (!url) return fail(url.error());
  if (const auto checked = check(request); !checked) return fail(checked.error());
  for (int hop = 0;; ++hop) {
    body.clear();
    auto answer = perform_one(request, *url, limits, sink);
    if (!answer) return answer;
    answer->body = std::move(body);
    const bool has_moved = answer->status >= 300 && answer->status <= 399;
    // The place may contain a key that the answer must not show.
    const std::string place =
        std::exchange(answer->moved_to, has_moved ? header_of(*answer, "Location") : "");
    const bool may_follow = request.follows_redirects && is_redirect(request.method, answer->status);
    if (!may_follow || place.empty() || hop == kHopsMax) return answer;
    auto next = resolved(*url, place);
    // Credentials and the body go to this origin only.
    if (!next || origin_of(*next) != origin_of(*url)) return answer;
    url = std::move(next);
  }
}

// Keeps the first `most` bytes of the body. Returns false once there are more.
bool keep(std::string& body, std::string_view piece, std::size_t most) {
  const std::size_t room = most - std::min(most, body.size());
  body.append(piece.substr(0, room));
  return piece.size() <= room;
}

}  // namespace

std::string header_of(const HttpAnswer& answer, std::string_view name) {
  const auto found = std::ranges::find_if(
      answer.headers, [&](const auto& header) { return base::same_word(header.first, name); });
  return found == answer.headers.end() ? std::string() : found->second;
}

bool is_stopped(int stop_fd) {
  pollfd stop{stop_fd, POLLIN, 0};
  return stop_fd >= 0 && ::poll(&stop, 1, 0) > 0;
}

std::chrono::seconds retry_after(const HttpAnswer& answer) {
  constexpr std::int64_t kMost = 3'600;
  const auto seconds = base::number_in<std::int64_t>(header_of(answer, "Retry-After")).value_or(0);
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kMost));
}

base::Result<HttpAnswer> http_request(const HttpRequest& request) {
  WaitLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + request.total_timeout;
  limits.stop_fd = request.stop_fd;
  std::string body;
  return perform(request, limits, body,
                 [&](int, std::string_view piece) { return keep(body, piece, request.answer_max); });
}

base::Result<HttpAnswer> http_stream(const HttpRequest& request, milliseconds idle_timeout,
                                     const std::function<bool(std::string_view)>& on_data) {
  WaitLimits limits;
  if (request.total_timeout.count() > 0)
    limits.deadline = std::chrono::steady_clock::now() + request.total_timeout;
  limits.idle = idle_timeout;
  limits.stop_fd = request.stop_fd;
  std::string body;
  return perform(request, limits, body, [&](int status, std::string_view piece) {
    if (status >= 200 && status < 300) return on_data(piece);
    return keep(body, piece, request.answer_max);
  });
}

}  // namespace baton::outbound
