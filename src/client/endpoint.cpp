#include "client/endpoint.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "json/document.h"
#include "protocol/sse/sse_reader.h"

namespace baton::client {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kAnswerMax = std::size_t{256} << 20;
// How much is kept of a stream that turns out to be a plain answer.
constexpr std::size_t kPlainMax = 1 << 20;
// Four of the comments that keep a quiet stream awake.
constexpr milliseconds kIdleTimeout{60'000};

CallError from_net(const base::Error& error) {
  const bool lost =
      error.code == base::ErrorCode::unavailable || error.code == base::ErrorCode::deadline_exceeded;
  return {error.for_caller, 0, lost};
}

bool is_busy(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Adds the detail only if it says more.
CallError from_remote(const protocol::a2a::RemoteError& error) {
  CallError read{error.message, error.code, false};
  if (lower(error.message).find(lower(error.detail)) == std::string::npos) read.text += ": " + error.detail;
  return read;
}

// The error in an answer that is not a result: the protocol's error, else the HTTP status. No dialect: the
// answer is not of the protocol.
CallError from_answer(const protocol::a2a::ClientDialect* dialect, int status, std::string_view body) {
  const bool good = status >= 200 && status <= 299;
  if (const auto document = json::Document::parse_view(body)) {
    const auto answer =
        dialect ? dialect->read_answer(document->root(), good) : base::Result<protocol::a2a::ClientAnswer>();
    if (answer && answer->error) {
      CallError error = from_remote(*answer->error);
      // Too many at once, for now.
      error.lost = is_busy(error.rpc_code == 0 ? status : static_cast<int>(error.rpc_code));
      error.status = status;
      return error;
    }
    // An error from before the server knew the protocol.
    const json::Value reason = document->root()["error"];
    if (reason.is_string()) return {reason.str(), 0, is_busy(status), status};
  }
  if (!good)
    return {"the server answered with HTTP status " + std::to_string(status), 0, is_busy(status), status};
  return {"the server's answer is not of the protocol: " + std::string(body.substr(0, 200)), 0, false};
}

std::int64_t number_of(const std::string& id) {
  return std::max<std::int64_t>(base::number_in<std::int64_t>(id).value_or(0), 0);
}

// Reads the bytes of one connection.
class StreamReading {
 public:
  StreamReading(const protocol::a2a::ClientDialect& dialect, const OnStreamEvent& on_event)
      : dialect_(dialect), on_event_(on_event) {}

  bool take(std::string_view piece) {
    opened_ = true;
    if (!seen_ && plain_.size() < kPlainMax) plain_.append(piece.substr(0, kPlainMax - plain_.size()));
    const auto going =
        reader_.feed(piece, [&](const protocol::SseEvent& event) { return take_event(event); });
    if (!going) error_ = CallError{going.error().for_caller, 0, false};
    return going.value_or(false);
  }

  StreamEnd end(const base::Result<http::outbound::HttpAnswer>& answer) {
    if (!error_ && !answer) error_ = from_net(answer.error());
    if (!error_ && (answer->status < 200 || answer->status > 299))
      error_ = from_answer(&dialect_, answer->status, answer->body);
    // Not a stream but one JSON answer: an error from before the first event.
    const bool plain = answer && answer->content_type.find("event-stream") == std::string::npos;
    if (!error_ && plain && !seen_) error_ = from_answer(&dialect_, answer->status, plain_);
    return {error_, number_of(reader_.last_id()), opened_};
  }

 private:
  bool take_event(const protocol::SseEvent& event) {
    seen_ = true;
    const auto document = json::Document::parse_view(event.data);
    if (!document) return refuse({"an event of the stream is not JSON", 0, false});
    const auto answer = dialect_.read_answer(document->root(), event.type != "error");
    if (!answer) return refuse({answer.error().for_caller, 0, false});
    if (answer->error) return refuse(from_remote(*answer->error));
    return on_event_(event.numbered ? number_of(reader_.last_id()) : 0, answer->result.raw());
  }

  bool refuse(CallError error) {
    error_ = std::move(error);
    return false;
  }

  const protocol::a2a::ClientDialect& dialect_;
  const OnStreamEvent& on_event_;
  protocol::SseReader reader_;
  std::string plain_;
  bool opened_ = false;
  bool seen_ = false;
  std::optional<CallError> error_;
};

// The result in a complete answer.
tl::expected<task::Json, CallError> result_in(const protocol::a2a::ClientDialect& dialect, int status,
                                              std::string_view body) {
  const bool good = status >= 200 && status <= 299;
  const auto document = json::Document::parse_view(body);
  if (!document) return tl::unexpected(from_answer(&dialect, status, body));
  const auto result = dialect.read_answer(document->root(), good);
  if (!result || result->error) return tl::unexpected(from_answer(&dialect, status, body));
  return result->result.json();
}

std::shared_ptr<const GrpcChannel> open_channel(const Remote& remote) {
  if (!remote.over_grpc) return nullptr;
  ChannelTarget target = *remote.over_grpc;
  target.url = remote.url;
  return std::make_shared<const GrpcChannel>(std::move(target));
}

// Events have no numbers here, because gRPC has no place for them.
StreamEnd grpc_stream(const GrpcChannel& channel, const ChannelCall& call,
                      const protocol::a2a::ClientDialect& dialect, const OnStreamEvent& on_event) {
  StreamEnd end;
  const auto answer = channel.stream(call, [&](std::string_view json) {
    end.opened = true;
    const auto document = json::Document::parse_view(json);
    const auto item = document ? dialect.read_answer(document->root(), true) : base::fail(document.error());
    if (!item) end.error = CallError{item.error().for_caller, 0, false};
    return item && on_event(0, item->result.raw());
  });
  if (!end.error && !answer) end.error = from_net(answer.error());
  if (!end.error && answer->http_status != 200)
    end.error = from_answer(&dialect, answer->http_status, answer->body);
  return end;
}

http::outbound::HttpRequest basic_request(std::string url, const std::string& token, std::string_view version,
                                          int stop_fd) {
  http::outbound::HttpRequest request;
  request.url = std::move(url);
  request.answer_max = kAnswerMax;
  // Any address is allowed: the user decides whom to call.
  request.policy = http::outbound::AddressPolicy::any();
  request.stop_fd = stop_fd;
  if (!version.empty()) request.headers.emplace_back("A2A-Version", version);
  if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
  return request;
}

}  // namespace

RemoteEndpoint::RemoteEndpoint(Remote remote, int stop_fd)
    : remote_(std::move(remote)), channel_(open_channel(remote_)), stop_fd_(stop_fd) {}

ChannelCall RemoteEndpoint::grpc_call(const protocol::a2a::ClientRequest& request) const {
  ChannelCall call{request, {}, {}, stop_fd_};
  call.metadata.emplace_back("a2a-version", protocol::name_of(dialect().version()));
  if (!remote_.token.empty()) call.metadata.emplace_back("authorization", "Bearer " + remote_.token);
  if (!remote_.agent.empty()) call.metadata.emplace_back("baton-agent", remote_.agent);
  return call;
}

http::outbound::HttpRequest RemoteEndpoint::http(const protocol::a2a::ClientRequest& request) const {
  std::string url = remote_.url;
  if (!request.path.empty()) {
    while (url.ends_with('/')) url.pop_back();
    url += request.path;
  }
  // Servers before 1.0 do not know the header; those that speak several versions answer in the right one.
  http::outbound::HttpRequest out =
      basic_request(std::move(url), remote_.token, protocol::name_of(dialect().version()), stop_fd_);
  out.method = request.method;
  out.body = request.body;
  if (!request.body.empty()) out.content_type = "application/json";
  return out;
}

tl::expected<task::Json, CallError> RemoteEndpoint::call(const protocol::a2a::ClientRequest& request,
                                                         milliseconds timeout) const {
  if (channel_) {
    ChannelCall out = grpc_call(request);
    out.timeout = timeout;
    const auto answer = channel_->call(out);
    if (!answer) return tl::unexpected(from_net(answer.error()));
    return result_in(dialect(), answer->http_status, answer->body);
  }
  http::outbound::HttpRequest out = http(request);
  out.total_timeout = timeout;
  out.headers.emplace_back("Accept", "application/json");
  const auto answer = http::outbound::http_request(out);
  if (!answer) return tl::unexpected(from_net(answer.error()));
  return result_in(dialect(), answer->status, answer->body);
}

StreamEnd RemoteEndpoint::stream(const StreamRequest& stream_request, const OnStreamEvent& on_event) const {
  if (channel_) {
    ChannelCall out = grpc_call(stream_request.request);
    if (stream_request.after)
      out.metadata.emplace_back("last-event-id", std::to_string(*stream_request.after));
    return grpc_stream(*channel_, out, dialect(), on_event);
  }
  http::outbound::HttpRequest out = http(stream_request.request);
  out.total_timeout = milliseconds(0);
  out.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (stream_request.after) out.headers.emplace_back("Last-Event-ID", std::to_string(*stream_request.after));
  StreamReading reading(dialect(), on_event);
  return reading.end(http::outbound::http_stream(
      out, kIdleTimeout, [&](std::string_view piece) { return reading.take(piece); }));
}

tl::expected<std::string, CallError> http_get(const std::string& url, const std::string& token,
                                              std::string_view version, int stop_fd) {
  http::outbound::HttpRequest out = basic_request(url, token, version, stop_fd);
  out.method = "GET";
  const auto answer = http::outbound::http_request(out);
  if (!answer) return tl::unexpected(from_net(answer.error()));
  if (answer->status != 200) return tl::unexpected(from_answer(nullptr, answer->status, answer->body));
  return answer->body;
}

std::string endpoint_url(std::string url, std::string_view agent) {
  while (url.ends_with('/')) url.pop_back();
  if (agent.empty()) return url + "/";
  return url + "/agents/" + base::percent_encoded(agent);
}

}  // namespace baton::client
