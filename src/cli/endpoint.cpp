#include "cli/endpoint.h"

#include <cctype>
#include <charconv>

#include "cli/printable.h"
#include "wire/a2a/client_v0_1.h"
#include "wire/json/document.h"
#include "wire/sse/sse_reader.h"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kAnswerMax = std::size_t{256} << 20;
// What is kept of a stream that turns out to be a plain answer.
constexpr std::size_t kPlainMax = 1 << 20;
// Four of the comments that keep a quiet stream awake.
constexpr milliseconds kIdleTimeout{60'000};

CallError from_net(const base::Error& error) {
  const bool lost =
      error.code == base::ErrorCode::unavailable || error.code == base::ErrorCode::deadline_exceeded;
  return {error.for_caller, 0, lost};
}

constexpr const char* kAgentHint = "; a task is its agent's: name the agent with --agent";

bool is_busy(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// An answer that is not what was asked for: the protocol's error if it is one, else the HTTP status.
CallError from_answer(int status, std::string_view body) {
  if (const auto document = wire::Document::parse_view(body)) {
    const auto answer = wire::v0_1_client::read_answer(document->root());
    if (answer && answer->error) {
      const bool not_found = answer->error->code == wire::v0_1_client::kTaskNotFound;
      return {answer->error->message + (not_found ? kAgentHint : ""), answer->error->code, false};
    }
    // What the server says before a protocol is known.
    const wire::Value reason = document->root()["error"];
    if (reason.is_string()) return {printable_line(reason.string()), 0, is_busy(status)};
  }
  if (status < 200 || status > 299) {
    return {"the server answered with HTTP status " + std::to_string(status), 0, is_busy(status)};
  }
  return {"the server's answer is not of the protocol: " + printable_line(body.substr(0, 200)), 0, false};
}

std::int64_t number_of(const std::string& id) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  return error == std::errc{} && end == id.data() + id.size() && number > 0 ? number : 0;
}

// What happens to the bytes of one connection.
class StreamReading {
 public:
  explicit StreamReading(const OnStreamEvent& on_event) : on_event_(on_event) {}

  bool take(std::string_view piece) {
    opened_ = true;
    if (!seen_ && plain_.size() < kPlainMax) plain_.append(piece.substr(0, kPlainMax - plain_.size()));
    const auto going = reader_.feed(piece, [&](const wire::SseEvent& event) { return take_event(event); });
    if (!going) error_ = CallError{going.error().for_caller, 0, false};
    return going.value_or(false);
  }

  StreamEnd end(const base::Result<net::HttpAnswer>& answer) {
    if (!error_ && !answer) error_ = from_net(answer.error());
    if (!error_ && (answer->status < 200 || answer->status > 299))
      error_ = from_answer(answer->status, answer->body);
    // No stream at all, but one JSON answer: an error from before the first event.
    const bool plain = answer && answer->content_type.find("event-stream") == std::string::npos;
    if (!error_ && plain && !seen_) error_ = from_answer(answer->status, plain_);
    return {error_, number_of(reader_.last_id()), opened_};
  }

 private:
  bool take_event(const wire::SseEvent& event) {
    seen_ = true;
    const auto document = wire::Document::parse_view(event.data);
    if (!document) return refuse({"an event of the stream is not JSON", 0, false});
    const auto answer = wire::v0_1_client::read_answer(document->root());
    if (!answer) return refuse({answer.error().for_caller, 0, false});
    if (answer->error) return refuse({answer->error->message, answer->error->code, false});
    return on_event_(event.numbered ? number_of(reader_.last_id()) : 0, answer->result.raw());
  }

  bool refuse(CallError error) {
    error_ = std::move(error);
    return false;
  }

  const OnStreamEvent& on_event_;
  wire::SseReader reader_;
  std::string plain_;
  bool opened_ = false;
  bool seen_ = false;
  std::optional<CallError> error_;
};

}  // namespace

net::HttpRequest Endpoint::request(std::string body) const {
  net::HttpRequest request;
  request.url = url_;
  request.body = std::move(body);
  request.content_type = "application/json";
  request.answer_max = kAnswerMax;
  // The person at the command line decides whom to call.
  request.policy.allow_private = true;
  request.stop_fd = stop_fd_;
  request.headers.emplace_back("A2A-Version", "0.1");
  if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
  return request;
}

tl::expected<task::Json, CallError> Endpoint::call(std::string body, milliseconds timeout) const {
  net::HttpRequest out = request(std::move(body));
  out.total_timeout = timeout;
  out.headers.emplace_back("Accept", "application/json");
  const auto answer = net::http_request(out);
  if (!answer) return tl::unexpected(from_net(answer.error()));
  const auto document = wire::Document::parse_view(answer->body);
  if (!document) return tl::unexpected(from_answer(answer->status, answer->body));
  const auto result = wire::v0_1_client::read_answer(document->root());
  if (!result || result->error) return tl::unexpected(from_answer(answer->status, answer->body));
  return result->result.json();
}

StreamEnd Endpoint::stream(const StreamRequest& stream_request, const OnStreamEvent& on_event) const {
  net::HttpRequest out = request(stream_request.body);
  out.total_timeout = milliseconds(0);
  out.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (stream_request.after) out.headers.emplace_back("Last-Event-ID", std::to_string(*stream_request.after));
  StreamReading reading(on_event);
  return reading.end(
      net::http_stream(out, kIdleTimeout, [&](std::string_view piece) { return reading.take(piece); }));
}

tl::expected<std::string, CallError> Endpoint::get(std::string_view path) const {
  net::HttpRequest out = request({});
  out.method = "GET";
  out.content_type.clear();
  while (out.url.ends_with('/')) out.url.pop_back();
  out.url += path;
  const auto answer = net::http_request(out);
  if (!answer) return tl::unexpected(from_net(answer.error()));
  if (answer->status != 200) return tl::unexpected(from_answer(answer->status, answer->body));
  return answer->body;
}

std::string endpoint_url(std::string url, std::string_view agent) {
  while (url.ends_with('/')) url.pop_back();
  if (agent.empty()) return url + "/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  url += "/agents/";
  for (const char c : agent) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      url += c;
    } else {
      url += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return url;
}

}  // namespace baton::cli
