#include "client/endpoint.h"

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "client/answers.h"
#include "client/call_span.h"
#include "client/decode.h"
#include "client/freshness.h"
#include "json/document.h"
#include "outbound/call_report.h"

namespace baton::client {
namespace {

using std::chrono::milliseconds;

outbound::HttpAnswer http_answer(ChannelAnswer& from) {
  outbound::HttpAnswer answer;
  answer.status = from.http_status;
  answer.body = std::move(from.body);
  return answer;
}

// Makes a call over gRPC under the breaker of its origin. A stream counts as answered once it is connected.
template <class Make>
base::Result<ChannelAnswer> guarded(const Remote& remote, ChannelCall& call, bool is_stream,
                                    Progress& progress, Make make) {
  const std::string origin = outbound::origin_of(remote.url);
  const auto place = outbound::parse_url(origin);
  if (place && remote.access.proxy.serves(*place))
    return base::fail(
        base::ErrorCode::permission_denied,
        "gRPC goes through no proxy: name the host in outbound.proxy_except, or another transport");
  outbound::CallReport report(remote.access.breakers, remote.access.counts, origin);
  progress.held = report.admit(remote.access.despite_breaker);
  if (progress.held.count() > 0) return base::fail(outbound::CallReport::held_back());
  call.on_connected = [&] {
    progress.sent = true;
    if (is_stream) report.answered(200, false);
  };
  auto answer = make(call);
  if (answer) report.answered(answer->http_status, false);
  if (!answer) report.lost(answer.error(), progress.sent, outbound::is_stopped(call.stop_fd));
  return answer;
}

// Events over gRPC have no numbers: the protocol has no field for them.
StreamEnd grpc_stream(const GrpcChannel& channel, const Remote& remote, ChannelCall call,
                      const OnStreamEvent& on_event) {
  const protocol::a2a::ClientDialect& dialect = *remote.dialect;
  outbound::Intake* const intake = remote.access.intake;
  StreamEnd end;
  Progress progress;
  const auto on_message = [&](std::string_view json) {
    end.opened = true;
    const auto right = may_decode(json, intake);
    if (!right) {
      end.error = from_net(right.error(), {true, milliseconds(0)});
      return false;
    }
    const std::string text = shown_text(remote.access, json);
    const auto document = json::Document::parse_view(text);
    const auto item = document ? dialect.read_answer(document->root(), true) : base::fail(document.error());
    if (!item) end.error = CallError{item.error().for_caller, 0, false};
    const bool goes_on = item && on_event(0, item->result.raw());
    if (intake != nullptr) intake->keep(0);
    return goes_on;
  };
  auto answer = guarded(remote, call, true, progress,
                        [&](const ChannelCall& made) { return channel.stream(made, on_message); });
  if (!end.error && !answer) end.error = from_net(answer.error(), progress);
  if (!end.error && answer->http_status != 200) {
    outbound::HttpAnswer refusal = http_answer(*answer);
    refusal.body = shown_text(remote.access, refusal.body);
    end.error = from_answer(&dialect, refusal, refusal.body);
  }
  return end;
}

constexpr int kUnauthorized = 401;

CallError* error_in(StreamEnd& end) {
  return end.error && !end.opened ? &*end.error : nullptr;
}
template <class T>
CallError* error_in(tl::expected<T, CallError>& result) {
  return result ? nullptr : &result.error();
}

// Makes a call with a valid token. If the server refuses the token, renews it and tries once more.
template <class Result, class Make>
Result with_token(const Access& access, int stop_fd, Make make) {
  if (!access.credentials) return make(access.token);
  for (bool is_second = false;; is_second = true) {
    const auto token = access.credentials->find(stop_fd, access.despite_breaker);
    if constexpr (std::is_same_v<Result, StreamEnd>) {
      if (!token) return StreamEnd{without_token(token.error())};
    } else {
      if (!token) return tl::unexpected(without_token(token.error()));
    }
    Result result = make(*token);
    CallError* const error = error_in(result);
    const bool is_refused = error && error->status == kUnauthorized;
    if (is_refused && is_second) error->asks = access.credentials->ask_after_refusal();
    if (!is_refused || is_second || !access.credentials->renew(*token)) return result;
  }
}

}  // namespace

bool is_final(const CallError& error) {
  return error.rpc_code == protocol::a2a::kTaskNotFound || error.status == 401 || error.status == 403 ||
         error.rpc_code == 401 || error.rpc_code == 403;
}

bool may_be_of_other_version(const CallError& error) {
  constexpr int kNotFound = 404;
  return error.rpc_code == protocol::a2a::kMethodNotFound ||
         error.rpc_code == protocol::a2a::kVersionNotSupported ||
         (error.rpc_code == 0 && error.status == kNotFound);
}

std::shared_ptr<const GrpcChannel> open_channel(const Remote& remote) {
  if (!remote.over_grpc || remote.channel) return remote.channel;
  ChannelTarget target = *remote.over_grpc;
  target.url = remote.url;
  target.policy = remote.access.policy;
  target.message_max = remote.access.answer_max;
  return std::make_shared<const GrpcChannel>(std::move(target));
}

RemoteEndpoint::RemoteEndpoint(Remote remote, int stop_fd)
    : remote_(std::move(remote)), channel_(open_channel(remote_)), stop_fd_(stop_fd) {}

ChannelCall RemoteEndpoint::grpc_call(const protocol::a2a::ClientRequest& request, const Shown& shown) const {
  ChannelCall call{request, {}, {}, stop_fd_};
  call.intake = remote_.access.intake;
  call.metadata.emplace_back("a2a-version", protocol::name_of(dialect().version()));
  if (!shown.token.empty()) {
    auto [name, value] = token_header(remote_.access, shown.token);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    call.metadata.emplace_back(std::move(name), std::move(value));
  }
  if (!shown.trace.empty()) call.metadata.emplace_back("traceparent", shown.trace);
  if (!remote_.agent.empty()) call.metadata.emplace_back("baton-agent", remote_.agent);
  return call;
}

tl::expected<task::Json, CallError> RemoteEndpoint::call(const protocol::a2a::ClientRequest& request,
                                                         milliseconds timeout) const {
  base::SpanTimer timer(remote_.access.spans, remote_.access.trace);
  auto result = with_token<tl::expected<task::Json, CallError>>(
      remote_.access, stop_fd_, [&](const std::string& token) {
        return call(request, timeout, {token, timer.trace()});
      });
  if (!result) result.error().text = shown_text(remote_.access, result.error().text);
  if (timer.wants(!result)) timer.end(call_span(remote_, error_in(result)));
  return result;
}

tl::expected<task::Json, CallError> RemoteEndpoint::call(const protocol::a2a::ClientRequest& request,
                                                         milliseconds timeout, const Shown& shown) const {
  if (channel_) {
    ChannelCall out = grpc_call(request, shown);
    out.timeout = timeout;
    Progress progress;
    auto answer =
        guarded(remote_, out, false, progress, [&](const ChannelCall& made) { return channel_->call(made); });
    if (!answer) return tl::unexpected(from_net(answer.error(), progress));
    outbound::HttpAnswer read = http_answer(*answer);
    if (const auto mask = mask_of(remote_.access)) read.body = mask->masked(read.body);
    return decoded(read);
  }
  outbound::HttpRequest out = http_request_of(remote_, request, shown.token, shown.trace);
  out.stop_fd = stop_fd_;
  out.total_timeout = timeout;
  Progress progress;
  progress.follow(out);
  auto answer = outbound::http_request(out);
  if (!answer) return tl::unexpected(from_net(answer.error(), progress));
  auto result = decoded(*answer);
  if (!result) add_headers(*answer, result.error());
  return result;
}

tl::expected<task::Json, CallError> RemoteEndpoint::decoded(outbound::HttpAnswer& answer) const {
  const auto right = may_decode(answer.body, remote_.access.intake);
  if (!right) return tl::unexpected(from_net(right.error(), {true, milliseconds(0)}));
  return result_in(dialect(), answer);
}

StreamEnd RemoteEndpoint::stream(const StreamRequest& request, const OnStreamEvent& on_event) const {
  base::SpanTimer timer(remote_.access.spans, remote_.access.trace);
  StreamEnd end = with_token<StreamEnd>(remote_.access, stop_fd_, [&](const std::string& token) {
    return stream(request, on_event, {token, timer.trace()});
  });
  // A gRPC status and an error text composed from parts have not been masked yet.
  if (end.error) end.error->text = shown_text(remote_.access, end.error->text);
  const CallError* const error = end.error ? &*end.error : nullptr;
  if (timer.wants(error != nullptr)) timer.end(call_span(remote_, error));
  return end;
}

StreamEnd RemoteEndpoint::stream(const StreamRequest& stream_request, const OnStreamEvent& on_event,
                                 const Shown& shown) const {
  if (channel_) {
    ChannelCall out = grpc_call(stream_request.request, shown);
    if (stream_request.after)
      out.metadata.emplace_back("last-event-id", std::to_string(*stream_request.after));
    return grpc_stream(*channel_, remote_, out, on_event);
  }
  outbound::HttpRequest out = http_request_of(remote_, stream_request, shown.token, shown.trace);
  out.stop_fd = stop_fd_;
  outbound::Intake* const intake = remote_.access.intake;
  StreamReading reading(remote_.dialect, intake != nullptr, on_event);
  const auto allow = [&](std::string_view text, auto take) {
    const auto right = may_decode(text, intake);
    if (!right) return reading.refuse(from_net(right.error(), {true, milliseconds(0)}));
    return take();
  };
  Progress progress;
  progress.follow(out);
  std::vector<StreamReading::Event> events;
  bool goes_on = true;
  const auto deliver = [&] {
    for (const StreamReading::Event& event : events)
      goes_on = goes_on && allow(event.event.data, [&] { return reading.deliver(event); });
    events.clear();
  };
  const auto answer = outbound::http_stream(out, stream_request.idle, [&](std::string_view piece) {
    const bool is_good = reading.feed(piece, events);
    deliver();
    if (intake != nullptr) intake->keep(reading.held());
    return goes_on && is_good;
  });
  if (goes_on) reading.feed_end(answer, events);
  deliver();
  if (const std::string* const whole = reading.whole(answer)) {
    allow(*whole, [&] {
      reading.deliver_whole();
      return true;
    });
  }
  return reading.end(answer, progress);
}

tl::expected<Fetched, CallError> http_get(const std::string& url, const Access& access,
                                          std::string_view version, int stop_fd, const Fetched* known) {
  using Result = tl::expected<Fetched, CallError>;
  const bool is_known = known != nullptr && known->url == url && !known->etag.empty();
  return with_token<Result>(access, stop_fd, [&](const std::string& token) -> Result {
    outbound::HttpRequest out = basic_request(url, access, token, access.trace, version);
    out.stop_fd = stop_fd;
    out.method = "GET";
    if (is_known) out.headers.emplace_back("If-None-Match", known->etag);
    Progress progress;
    progress.follow(out);
    const auto answer = outbound::http_request(out);
    if (!answer) return tl::unexpected(from_net(answer.error(), progress));
    const bool is_unchanged = is_known && answer->status == 304;
    if (answer->status != 200 && !is_unchanged)
      return tl::unexpected(from_http(nullptr, *answer, answer->body));
    Fetched fetched = is_unchanged ? *known : Fetched{url, answer->body, etag_of(*answer)};
    fetched.max_age = max_age_of(*answer);
    fetched.links = links_of(*answer);
    return fetched;
  });
}

std::string endpoint_url(std::string url, std::string_view agent) {
  while (url.ends_with('/')) url.pop_back();
  if (agent.empty()) return url + "/";
  return url + "/agents/" + base::percent_encoded(agent);
}

}  // namespace baton::client
