#include "outbound/http_client.h"

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/text.h"
#include "outbound/answer_rules.h"
#include "outbound/answer_stream.h"
#include "outbound/dial.h"
#include "outbound/request_rules.h"

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

httplib::Request to_library(const HttpRequest& from, const Url& url) {
  httplib::Request request;
  request.method = from.method;
  request.path = target_of(from, url);
  for (const auto& [name, value] : headers_of(from, url)) request.headers.emplace(name, value);
  request.body = from.body;
  return request;
}

void take_head(const HttpRequest& request, const httplib::Response& from, HttpAnswer& answer,
               CallReport& report) {
  take_head(request, from.status, Headers(from.headers.begin(), from.headers.end()), answer, report);
}

bool stays_open(const httplib::Response& answer) {
  const bool has_end = answer.has_header("Content-Length") || answer.has_header("Transfer-Encoding") ||
                       has_no_body(answer.status);
  return outbound::stays_open(answer.version == "HTTP/1.1", has_end, answer.get_header_value("Connection"));
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
  AnswerStream stream(channel, request, limits);
  base::SecretMask::Pieces shown(request.mask);
  bool over = false;  // we stopped reading on purpose
  httplib::Request out = to_library(request, url);
  out.response_handler = [&](const httplib::Response& head) {
    stream.end_head();
    take_head(request, head, answer, report);
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
    take_head(request, in, answer, report);  // the library does not pass on the head of a 204
  if (const std::string rest = shown.end(); complete && !rest.empty()) (void)sink(answer.status, rest);
  const bool enough = request.head_suffices && answer.status != 0;
  const bool may_keep = complete && request.repeats_safely && stays_open(in) && stream.is_reusable();
  if (complete || over || enough) return {std::move(answer), true, may_keep};
  if (stream.failure()) return {fail(*stream.failure()), stream.has_begun()};
  return {fail(no_answer()), stream.has_begun()};
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
    if (request.on_connected) request.on_connected();
    Conversed ended = converse(request, url, **channel, limits, sink, report);
    if (ended.may_keep) kept_connections().keep(key, {std::move(*channel), opened});
    if (ended.answer) return std::move(ended.answer);
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
  if (const auto admitted = admit(request, report); !admitted) return fail(admitted.error());
  try {
    return perform_admitted(request, url, limits, sink, report);
  } catch (const std::exception& error) {
    return fail(ErrorCode::unavailable, "the request failed", error.what());
  }
}

// `body` receives the part of the answer's body that `sink` keeps; it is emptied before each request.
base::Result<HttpAnswer> perform(const HttpRequest& request, const WaitLimits& limits, std::string& body,
                                 const BodySink& sink) {
  auto url = parse_url(request.url);
  if (!url) return fail(url.error());
  if (const auto checked = check_request(request); !checked) return fail(checked.error());
  for (int hop = 0;; ++hop) {
    body.clear();
    auto answer = perform_one(request, *url, limits, sink);
    if (!answer) return answer;
    answer->body = std::move(body);
    auto next = next_hop(request, *url, hop, *answer);
    if (!next) return answer;
    url = std::move(*next);
  }
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
