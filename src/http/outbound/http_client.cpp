#include "http/outbound/http_client.h"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <exception>

#include "base/text.h"
#include "http/outbound/answer_stream.h"
#include "http/outbound/tls.h"

namespace baton::http::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

// Gets the answer's status and a piece of its body. Returning false ends the reading without an error.
using BodySink = std::function<bool(int status, std::string_view piece)>;

// Runs the library's request writer and answer reader on our own stream. Its own sockets only have timeouts
// for single reads, and would resolve the name a second time.
class Roundtrip final : private httplib::ClientImpl {
 public:
  explicit Roundtrip(const Url& url) : ClientImpl(url.host, url.port) {
    set_url_encode(false);  // send the target exactly as it was checked
    set_decompress(false);  // a small answer must not expand
  }
  bool run(httplib::Stream& stream, httplib::Request& request, httplib::Response& response) {
    httplib::Error ignored = httplib::Error::Success;
    return process_request(stream, request, response, true, ignored);
  }
};

// A line end in a value could inject another header.
bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

// These decide where the request goes and where it ends, so only this file sets them.
bool is_reserved_header(std::string_view name) {
  constexpr std::array kReserved{"Host", "Content-Length", "Transfer-Encoding", "Connection"};
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view reserved) { return base::same_word(name, reserved); });
}

base::Result<void> check(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST") {
    return fail(ErrorCode::invalid_argument, "only GET and POST requests are made");
  }
  if (!is_header_value(request.content_type)) {
    return fail(ErrorCode::invalid_argument, "the content type has characters that do not belong there");
  }
  for (const auto& [name, value] : request.headers) {
    if (!base::is_token(name) || is_reserved_header(name) || !is_header_value(value)) {
      return fail(ErrorCode::invalid_argument, "a header has characters that do not belong there", name);
    }
  }
  return {};
}

std::string host_header(const Url& url) {
  const std::string host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  const bool usual = url.port == (url.scheme == "https" ? 443 : 80);
  return usual ? host : host + ":" + std::to_string(url.port);
}

httplib::Request to_library(const HttpRequest& from, const Url& url) {
  httplib::Request request;
  request.method = from.method;
  request.path = url.target;
  request.headers.emplace("Host", host_header(url));
  for (const auto& [name, value] : from.headers) request.headers.emplace(name, value);
  if (!request.has_header("User-Agent")) request.headers.emplace("User-Agent", "Baton");
  if (!from.content_type.empty()) request.headers.emplace("Content-Type", from.content_type);
  request.body = from.body;
  return request;
}

base::Result<std::unique_ptr<Channel>> open_channel(const std::string& address, const Url& url,
                                                    milliseconds connect_timeout, const WaitLimits& limits) {
  auto socket = Socket::connect(address, url.port, connect_timeout, limits);
  if (!socket) return fail(socket.error());
  if (url.scheme == "http") return std::unique_ptr<Channel>(std::move(*socket));
  auto tls = TlsChannel::open(std::move(*socket), url.host);
  if (!tls) return fail(tls.error());
  return std::unique_ptr<Channel>(std::move(*tls));
}

// Resolves the name once and dials exactly the addresses that were checked, one after the other.
base::Result<std::unique_ptr<Channel>> dial(const HttpRequest& request, const Url& url,
                                            const WaitLimits& limits) {
  WaitLimits look_up = limits;
  const auto latest = std::chrono::steady_clock::now() + request.resolve_timeout;
  look_up.deadline = std::min(limits.deadline.value_or(latest), latest);
  const auto addresses = resolve_allowed(url, request.policy, look_up);
  if (!addresses) return fail(addresses.error());
  base::Error last;
  for (const std::string& address : *addresses) {
    auto channel = open_channel(address, url, request.connect_timeout, limits);
    if (channel) return channel;
    last = channel.error();
    if (limits.deadline && std::chrono::steady_clock::now() >= *limits.deadline) break;
  }
  return fail(last);
}

// RFC 9112, 6.3: answers with these statuses have no body, whatever their headers say.
bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

void take_head(const httplib::Response& from, HttpAnswer& answer) {
  answer.status = from.status;
  answer.content_type = from.get_header_value("Content-Type");
  answer.headers.assign(from.headers.begin(), from.headers.end());
}

base::Result<HttpAnswer> converse(const HttpRequest& request, const Url& url, Channel& channel,
                                  HttpAnswer& answer, const BodySink& sink) {
  AnswerStream stream(channel);
  bool over = false;  // ended by us, with what we wanted
  httplib::Request out = to_library(request, url);
  out.response_handler = [&](const httplib::Response& head) {
    stream.end_head();
    take_head(head, answer);
    over = has_no_body(head.status);
    return !over;
  };
  out.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    over = !sink(answer.status, {data, size});
    return !over;
  };
  httplib::Response in;
  const bool complete = Roundtrip(url).run(stream, out, in);
  if (complete && answer.status == 0) take_head(in, answer);  // 204: the library does not show its head
  const bool enough = request.head_suffices && answer.status != 0;
  if (complete || over || enough) return std::move(answer);
  if (stream.failure()) return fail(*stream.failure());
  return fail(ErrorCode::unavailable, "the other side gave no usable answer");
}

base::Result<HttpAnswer> perform(const HttpRequest& request, const WaitLimits& limits, HttpAnswer& answer,
                                 const BodySink& sink) {
  const auto url = parse_url(request.url);
  if (!url) return fail(url.error());
  if (const auto checked = check(request); !checked) return fail(checked.error());
  try {
    const auto channel = dial(request, *url, limits);
    if (!channel) return fail(channel.error());
    return converse(request, *url, **channel, answer, sink);
  } catch (const std::exception& error) {
    return fail(ErrorCode::unavailable, "the request failed", error.what());
  }
}

// Keeps the first `most` bytes; returns false once there are more.
bool keep(std::string& body, std::string_view piece, std::size_t most) {
  const std::size_t room = most - std::min(most, body.size());
  body.append(piece.substr(0, room));
  return piece.size() <= room;
}

}  // namespace

base::Result<HttpAnswer> http_request(const HttpRequest& request) {
  WaitLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + request.total_timeout;
  limits.stop_fd = request.stop_fd;
  HttpAnswer answer;
  return perform(request, limits, answer,
                 [&](int, std::string_view piece) { return keep(answer.body, piece, request.answer_max); });
}

base::Result<HttpAnswer> http_stream(const HttpRequest& request, milliseconds idle_timeout,
                                     const std::function<bool(std::string_view)>& on_data) {
  WaitLimits limits;
  if (request.total_timeout.count() > 0)
    limits.deadline = std::chrono::steady_clock::now() + request.total_timeout;
  limits.idle = idle_timeout;
  limits.stop_fd = request.stop_fd;
  HttpAnswer answer;
  return perform(request, limits, answer, [&](int status, std::string_view piece) {
    if (status >= 200 && status < 300) return on_data(piece);
    return keep(answer.body, piece, request.answer_max);
  });
}

}  // namespace baton::http::outbound
