#include "client/endpoint.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "client/call_span.h"
#include "client/decode.h"
#include "client/freshness.h"
#include "client/remote.h"
#include "http/http_text.h"
#include "json/document.h"
#include "json/error_words.h"
#include "outbound/call_report.h"
#include "outbound/outcome.h"
#include "outbound/refusal.h"
#include "protocol/sse/sse_reader.h"

namespace baton::client {
namespace {

using std::chrono::milliseconds;

// Bytes kept of a response that may turn out to be a plain answer instead of a stream.
constexpr std::size_t kEventMax = 64 << 20;  // of one event of a stream

// The progress of a call.
struct Progress {
  bool sent = false;  // the connection was established
  milliseconds held{0};

  void follow(outbound::HttpRequest& request) {
    request.on_connected = [this] { sent = true; };
    request.on_held = [this](milliseconds time) { held = time; };
  }
};

CallError from_net(const base::Error& error, const Progress& progress) {
  const bool lost =
      error.code == base::ErrorCode::unavailable || error.code == base::ErrorCode::deadline_exceeded;
  const bool held = progress.held.count() > 0;
  return {error.for_caller, 0, lost, 0, !progress.sent, progress.held, held};
}

CallError without_token(const outbound::TokenError& error) {
  return {.text = error.text,
          .lost = error.may_come,
          .unsent = true,
          .retry_after = error.retry_after,
          .held = error.held};
}

using outbound::may_pass;

// Codes of the protocol that are HTTP statuses. The protocol's own "internal error" is the agent's answer.
bool is_busy_code(std::int64_t code) {
  return code == 429 || (code >= 502 && code <= 504);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Adds the detail only if the message does not contain it.
CallError from_remote(const protocol::a2a::RemoteError& error) {
  CallError read{error.message, error.code, false};
  if (lower(error.message).find(lower(error.detail)) == std::string::npos) read.text += ": " + error.detail;
  return read;
}

// Returns the error in an answer that is not a result: the protocol's error, or else the HTTP status.
// `dialect` is null if the answer does not follow a protocol. `body`: that of the answer, or what was
// streamed of it.
CallError from_answer(const protocol::a2a::ClientDialect* dialect, const outbound::HttpAnswer& from,
                      std::string_view body) {
  const int status = from.status;
  const bool good = status >= 200 && status <= 299;
  if (const auto document = json::Document::parse_view(body)) {
    const auto answer =
        dialect ? dialect->read_answer(document->root(), good) : base::Result<protocol::a2a::ClientAnswer>();
    if (answer && answer->error) {
      CallError error = from_remote(*answer->error);
      // The server is only busy, so another try may succeed.
      error.lost = error.rpc_code == 0 ? may_pass(status) : is_busy_code(error.rpc_code);
      error.status = status;
      return error;
    }
    // An error from a layer of the server below the protocol.
    const std::string words = good ? json::error_words(document->root()["error"]) : std::string();
    if (!words.empty()) return {outbound::shown_error(words, {}), 0, false, status};
  }
  if (!good) return {"the server answered with " + outbound::refusal_text(from), 0, may_pass(status), status};
  // Does not quote the bytes: they may contain anything.
  return {"the server's answer is not valid for the protocol (HTTP status " + std::to_string(status) + ", " +
              std::to_string(body.size()) + " bytes)",
          0, false};
}

// Adds the information in the status and headers of an HTTP response.
void add_headers(const outbound::HttpAnswer& answer, CallError& error) {
  error.unsent = outbound::outcome_of(answer.status) == outbound::Outcome::busy;
  error.retry_after = outbound::retry_after(answer);
}

// Like `from_answer`, with the information in the status and headers of an HTTP response.
CallError from_http(const protocol::a2a::ClientDialect* dialect, const outbound::HttpAnswer& answer,
                    std::string_view body) {
  CallError error = from_answer(dialect, answer, body);
  add_headers(answer, error);
  return error;
}

std::int64_t number_of(const std::string& id) {
  return std::max<std::int64_t>(base::number_in<std::int64_t>(id).value_or(0), 0);
}

// Reads the bytes of one connection.
class StreamReading {
 public:
  StreamReading(const Remote& remote, const OnStreamEvent& on_event)
      : dialect_(*remote.dialect), intake_(remote.access.intake), on_event_(on_event) {}

  bool feed(std::string_view piece) {
    opened_ = true;
    if (!seen_ && plain_.size() < kEventMax) plain_.append(piece.substr(0, kEventMax - plain_.size()));
    const auto going =
        reader_.feed(piece, [&](const protocol::SseEvent& event) { return take_event(event); });
    if (!going) error_ = CallError{going.error().for_caller, 0, false};
    if (seen_) plain_ = {};
    if (intake_ != nullptr) intake_->keep(reader_.unfinished() + plain_.size());
    return going.value_or(false);
  }

  StreamEnd end(const base::Result<outbound::HttpAnswer>& answer, const Progress& progress) {
    if (!error_ && !answer) error_ = from_net(answer.error(), progress);
    if (!error_ && (answer->status < 200 || answer->status > 299))
      error_ = from_http(&dialect_, *answer, answer->body);
    // The response is one JSON answer instead of a stream: a whole task or message, which counts as one
    // event, or an error.
    const bool plain = answer && answer->content_type.find("event-stream") == std::string::npos;
    if (!error_ && plain && !seen_ && !take_whole()) error_ = from_http(&dialect_, *answer, plain_);
    return {error_, number_of(reader_.last_id()), opened_};
  }

 private:
  bool take_whole() {
    const auto right = may_decode(plain_, intake_);
    if (!right) return false;
    const auto document = json::Document::parse_view(plain_);
    const auto result = document ? dialect_.read_answer(document->root(), true)
                                 : base::Result<protocol::a2a::ClientAnswer>(base::fail(document.error()));
    if (!result || result->error) return false;
    (void)on_event_(0, result->result.raw());
    return true;
  }

  bool take_event(const protocol::SseEvent& event) {
    seen_ = true;
    const auto right = may_decode(event.data, intake_);
    if (!right) return refuse(from_net(right.error(), {true, milliseconds(0)}));
    const auto result = result_of(event);
    return result && on_event_(event.numbered ? number_of(reader_.last_id()) : 0, *result);
  }

  // Returns the result's text in the event. The parsed document is freed first, because the reader of the
  // result parses the text again.
  std::optional<std::string_view> result_of(const protocol::SseEvent& event) {
    const auto document = json::Document::parse_view(event.data);
    if (!document) {
      refuse({"the stream contained an event that is not JSON", 0, false});
      return std::nullopt;
    }
    const auto answer = dialect_.read_answer(document->root(), event.type != "error");
    if (answer && !answer->error) return answer->result.raw();
    refuse(answer ? from_remote(*answer->error) : CallError{answer.error().for_caller, 0, false});
    return std::nullopt;
  }

  bool refuse(CallError error) {
    error_ = std::move(error);
    return false;
  }

  const protocol::a2a::ClientDialect& dialect_;
  outbound::Intake* const intake_;
  const OnStreamEvent& on_event_;
  // An intake already limits all bytes that are kept.
  protocol::SseReader reader_{intake_ == nullptr ? kEventMax : std::numeric_limits<std::size_t>::max()};
  std::string plain_;
  bool opened_ = false;
  bool seen_ = false;
  std::optional<CallError> error_;
};

// Returns the result of a complete answer. Reuses the memory of the body for the result's text.
tl::expected<task::Json, CallError> result_in(const Remote& remote, outbound::HttpAnswer& answer) {
  std::string& body = answer.body;
  const protocol::a2a::ClientDialect& dialect = *remote.dialect;
  const auto right = may_decode(body, remote.access.intake);
  if (!right) return tl::unexpected(from_net(right.error(), {true, milliseconds(0)}));
  const auto find = [&]() -> std::optional<std::string_view> {
    const bool good = answer.status >= 200 && answer.status <= 299;
    const auto document = json::Document::parse_view(body);
    if (!document) return std::nullopt;
    const auto result = dialect.read_answer(document->root(), good);
    return result && !result->error ? std::optional(result->result.raw()) : std::nullopt;
  };
  const auto found = find();
  if (!found) return tl::unexpected(from_answer(&dialect, answer, body));
  const auto begin = static_cast<std::size_t>(found->data() - body.data());
  body.resize(begin + found->size());
  body.erase(0, begin);
  return task::Json{std::move(body)};
}

std::shared_ptr<const base::SecretMask> mask_of(const Access& access) {
  return access.tokens && access.tokens->mask ? access.tokens->mask() : nullptr;
}

// Masks secrets in the JSON of a gRPC message, whose bytes cannot be masked.
std::string shown_text(const Access& access, std::string_view json) {
  const auto mask = mask_of(access);
  return mask ? mask->masked(json) : std::string(json);
}

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

std::pair<std::string, std::string> token_header(const Access& access, const std::string& token) {
  if (access.key_header.empty()) return {"Authorization", "Bearer " + token};
  return {access.key_header, token};
}

outbound::HttpRequest basic_request(std::string url, const Access& access, const std::string& token,
                                    const std::string& trace, std::string_view version, int stop_fd) {
  outbound::HttpRequest request;
  request.url = std::move(url);
  request.answer_max = access.answer_max;
  request.intake = access.intake;
  request.policy = access.policy;
  request.breakers = access.breakers;
  request.counts = access.counts;
  request.proxy = access.proxy;
  request.despite_breaker = access.despite_breaker;
  request.stop_fd = stop_fd;
  request.mask = mask_of(access);
  if (!version.empty()) request.headers.emplace_back("A2A-Version", version);
  if (!token.empty()) request.headers.push_back(token_header(access, token));
  if (!trace.empty()) request.headers.emplace_back("traceparent", trace);
  return request;
}

constexpr int kUnauthorized = 401;

const CallError* error_in(const StreamEnd& end) {
  return end.error && !end.opened ? &*end.error : nullptr;
}
template <class T>
const CallError* error_in(const tl::expected<T, CallError>& result) {
  return result ? nullptr : &result.error();
}

// Makes a call with a valid token. If the server refuses the token, renews it and tries once more.
template <class Result, class Make>
Result with_token(const Access& access, int stop_fd, Make make) {
  if (!access.tokens) return make(access.token);
  for (bool is_second = false;; is_second = true) {
    const auto token = access.tokens->find(stop_fd, access.despite_breaker);
    if constexpr (std::is_same_v<Result, StreamEnd>) {
      if (!token) return StreamEnd{without_token(token.error())};
    } else {
      if (!token) return tl::unexpected(without_token(token.error()));
    }
    Result result = make(*token);
    const CallError* const error = error_in(result);
    const bool is_refused = error && error->status == kUnauthorized;
    if (!is_refused || is_second || !access.tokens->renew(*token)) return result;
  }
}

}  // namespace

bool is_final(const CallError& error) {
  return error.rpc_code == protocol::a2a::kTaskNotFound || error.status == 401 || error.status == 403 ||
         error.rpc_code == 401 || error.rpc_code == 403;
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
    call.metadata.emplace_back(lower(std::move(name)), std::move(value));
  }
  if (!shown.trace.empty()) call.metadata.emplace_back("traceparent", shown.trace);
  if (!remote_.agent.empty()) call.metadata.emplace_back("baton-agent", remote_.agent);
  return call;
}

outbound::HttpRequest RemoteEndpoint::http(const protocol::a2a::ClientRequest& request,
                                           const Shown& shown) const {
  std::string url = remote_.url;
  if (!request.path.empty()) {
    while (url.ends_with('/')) url.pop_back();
    url += request.path;
  }
  // Sends A2A-Version always: servers before 1.0 ignore it, and servers of several versions need it.
  outbound::HttpRequest out = basic_request(std::move(url), remote_.access, shown.token, shown.trace,
                                            protocol::name_of(dialect().version()), stop_fd_);
  out.method = request.method;
  out.body = request.body;
  if (!request.body.empty()) out.content_type = "application/json";
  return out;
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
    return result_in(remote_, read);
  }
  outbound::HttpRequest out = http(request, shown);
  out.total_timeout = timeout;
  out.headers.emplace_back("Accept", "application/json");
  Progress progress;
  progress.follow(out);
  auto answer = outbound::http_request(out);
  if (!answer) return tl::unexpected(from_net(answer.error(), progress));
  auto result = result_in(remote_, *answer);
  if (!result) add_headers(*answer, result.error());
  return result;
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
  outbound::HttpRequest out = http(stream_request.request, shown);
  out.total_timeout = milliseconds(0);
  out.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (stream_request.after) out.headers.emplace_back("Last-Event-ID", std::to_string(*stream_request.after));
  StreamReading reading(remote_, on_event);
  Progress progress;
  progress.follow(out);
  const auto answer = outbound::http_stream(out, stream_request.idle,
                                            [&](std::string_view piece) { return reading.feed(piece); });
  return reading.end(answer, progress);
}

tl::expected<Fetched, CallError> http_get(const std::string& url, const Access& access,
                                          std::string_view version, int stop_fd, const Fetched* known) {
  using Result = tl::expected<Fetched, CallError>;
  const bool is_known = known != nullptr && known->url == url && !known->etag.empty();
  return with_token<Result>(access, stop_fd, [&](const std::string& token) -> Result {
    outbound::HttpRequest out = basic_request(url, access, token, access.trace, version, stop_fd);
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
