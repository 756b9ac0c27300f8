#include "client/answers.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "base/text.h"
#include "client/decode.h"
#include "json/document.h"
#include "json/error_words.h"
#include "outbound/outcome.h"
#include "outbound/refusal.h"

namespace baton::client {
namespace {

using outbound::may_pass;
using outbound::Outcome;
using std::chrono::milliseconds;

// Bytes of one event of a stream, and of an answer that may turn out to be no stream.
constexpr std::size_t kEventMax = 64 << 20;

constexpr int kInternal = 500, kNotImplemented = 501;

// The HTTP status that a code of the protocol is, if it says that the agent did not answer; else 0.
int status_in(std::int64_t code) {
  const bool is_status = code >= 400 && code <= 599 && code != kInternal && code != kNotImplemented;
  return is_status && may_pass(static_cast<int>(code)) ? static_cast<int>(code) : 0;
}

// Returns whether the server, or a proxy before it, has given up for now. The protocol's own "internal
// error" is the agent's answer. But gateways use it, too, and limiters any code.
bool may_pass_later(int status, std::int64_t code) {
  constexpr std::int64_t kInternalError = -32603, kServerError = -32000;
  if (code == 0) return may_pass(status);
  const bool is_general = code == kInternalError || code == kServerError;
  const bool is_gateways = is_general && status != kInternal && status != kNotImplemented;
  return status_in(code) != 0 || outbound::outcome_of(status) == Outcome::busy ||
         (is_gateways && may_pass(status));
}

bool is_busy(int status, std::int64_t code) {
  return outbound::outcome_of(status) == Outcome::busy ||
         outbound::outcome_of(status_in(code)) == Outcome::busy;
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

std::int64_t number_of(const std::string& id) {
  return std::max<std::int64_t>(base::number_in<std::int64_t>(id).value_or(0), 0);
}

}  // namespace

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
          .held = error.held,
          .asks = error.asks};
}

void add_headers(const outbound::HttpAnswer& answer, CallError& error) {
  error.unsent = is_busy(answer.status, error.rpc_code);
  error.retry_after = outbound::retry_after(answer);
}

CallError from_answer(const protocol::a2a::ClientDialect* dialect, const outbound::HttpAnswer& from,
                      std::string_view body) {
  const int status = from.status;
  const bool good = status >= 200 && status <= 299;
  if (const auto document = json::Document::parse_view(body)) {
    const auto answer =
        dialect ? dialect->read_answer(document->root(), good) : base::Result<protocol::a2a::ClientAnswer>();
    if (answer && answer->error) {
      CallError error = from_remote(*answer->error);
      error.lost = may_pass_later(status, error.rpc_code);
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

CallError from_http(const protocol::a2a::ClientDialect* dialect, const outbound::HttpAnswer& answer,
                    std::string_view body) {
  CallError error = from_answer(dialect, answer, body);
  add_headers(answer, error);
  return error;
}

StreamReading::StreamReading(protocol::a2a::ClientDialectPtr dialect, bool is_bounded, OnStreamEvent on_event)
    : dialect_(std::move(dialect)),
      on_event_(std::move(on_event)),
      reader_(is_bounded ? std::numeric_limits<std::size_t>::max() : kEventMax) {}

bool StreamReading::feed(std::string_view piece, std::vector<Event>& events) {
  opened_ = true;
  if (!seen_ && plain_.size() < kEventMax) plain_.append(piece.substr(0, kEventMax - plain_.size()));
  const auto going = reader_.feed(piece, [&](const protocol::SseEvent& event) {
    seen_ = true;
    events.push_back({event, event.numbered ? number_of(reader_.last_id()) : 0});
    return true;
  });
  if (seen_) plain_ = {};
  if (!going) return refuse({going.error().for_caller, 0, false});
  return *going;
}

void StreamReading::feed_end(const base::Result<outbound::HttpAnswer>& answer, std::vector<Event>& events) {
  const bool is_good = answer && answer->status >= 200 && answer->status <= 299;
  if (!opened_ || !is_good || error_ || whole(answer) != nullptr) return;
  const std::int64_t before = number_of(reader_.last_id());
  reader_.feed_end([&](const protocol::SseEvent& event) {
    const bool is_short = event.data.size() <= outbound::ByteBudget::kFree;
    if (is_short && json::Document::parse_view(event.data)) {
      events.push_back({event, event.numbered ? number_of(reader_.last_id()) : 0});
    } else {
      last_ = before;
    }
    return true;
  });
}

bool StreamReading::deliver(const Event& event) {
  if (protocol::is_aside(event.event) || is_unknown(event.event)) return true;
  const auto result = result_of(event);
  return result && on_event_(event.number, *result);
}

// Whether the event has a name of its own and says nothing that the protocol knows. An update that is invalid
// is not passed over: its content would be lost.
bool StreamReading::is_unknown(const protocol::SseEvent& event) const {
  if (!protocol::has_own_name(event)) return false;
  const auto document = json::Document::parse_view(event.data);
  if (!document || !document->root()["error"].missing() || !document->root()["result"].missing())
    return false;
  const auto answer = dialect_->read_answer(document->root(), true);
  if (!answer) return true;
  constexpr const char* kUpdates[] = {
      "task", "statusUpdate", "status_update", "artifactUpdate", "artifact_update", "message", "msg"};
  const bool is_update =
      std::ranges::any_of(kUpdates, [&](const char* name) { return answer->result[name].is_object(); });
  return !is_update && !dialect_->read_update(answer->result);
}

// Returns the result's text in the event. The parsed document is freed first, because the reader of the
// result parses the text again.
std::optional<std::string_view> StreamReading::result_of(const Event& event) {
  const auto document = json::Document::parse_view(event.event.data);
  if (!document) {
    refuse({"the stream contained an event that is not JSON", 0, false});
    return std::nullopt;
  }
  const auto answer = dialect_->read_answer(document->root(), event.event.type != "error");
  if (answer && !answer->error)
    return std::string_view(event.event.data).substr(answer->result.offset(), answer->result.raw().size());
  if (answer) {
    CallError error = from_remote(*answer->error);
    error.lost = status_in(error.rpc_code) != 0;
    error.unsent = is_busy(0, error.rpc_code);
    refuse(std::move(error));
    return std::nullopt;
  }
  // An error whose code is missing or a text says more than that.
  const std::string words = json::error_words(document->root()["error"]);
  refuse({words.empty() ? answer.error().for_caller : outbound::shown_error(words, {}), 0, false});
  return std::nullopt;
}

bool StreamReading::refuse(CallError error) {
  if (!error_) error_ = std::move(error);
  return false;
}

const std::string* StreamReading::whole(const base::Result<outbound::HttpAnswer>& answer) const {
  const bool is_good = answer && answer->status >= 200 && answer->status <= 299;
  const bool is_plain = is_good && answer->content_type.find("event-stream") == std::string::npos;
  return !error_ && is_plain && !seen_ ? &plain_ : nullptr;
}

bool StreamReading::deliver_whole() {
  const auto document = json::Document::parse_view(plain_);
  const auto result = document ? dialect_->read_answer(document->root(), true)
                               : base::Result<protocol::a2a::ClientAnswer>(base::fail(document.error()));
  if (!result || result->error) return false;
  whole_ = true;
  (void)on_event_(0, result->result.raw());
  return true;
}

StreamEnd StreamReading::end(const base::Result<outbound::HttpAnswer>& answer,
                             const Progress& progress) const {
  auto error = error_;
  if (!error && !answer) error = from_net(answer.error(), progress);
  if (!error && (answer->status < 200 || answer->status > 299))
    error = from_http(dialect_.get(), *answer, answer->body);
  if (!error && !whole_ && whole(answer) != nullptr) error = from_http(dialect_.get(), *answer, plain_);
  return {error, last_.value_or(number_of(reader_.last_id())), opened_};
}

tl::expected<task::Json, CallError> result_in(const protocol::a2a::ClientDialect& dialect,
                                              outbound::HttpAnswer& answer) {
  std::string& body = answer.body;
  const auto find = [&]() -> std::optional<std::string_view> {  // in the body
    const bool good = answer.status >= 200 && answer.status <= 299;
    const auto document = json::Document::parse_view(body);
    if (!document) return std::nullopt;
    const auto result = dialect.read_answer(document->root(), good);
    if (!result || result->error) return std::nullopt;
    return std::string_view(body).substr(result->result.offset(), result->result.raw().size());
  };
  const auto found = find();
  if (!found) return tl::unexpected(from_answer(&dialect, answer, body));
  const auto begin = static_cast<std::size_t>(found->data() - body.data());
  body.resize(begin + found->size());
  body.erase(0, begin);
  return task::Json{std::move(body)};
}

std::shared_ptr<const base::SecretMask> mask_of(const Access& access) {
  return access.credentials ? access.credentials->mask() : nullptr;
}

std::string shown_text(const Access& access, std::string_view text) {
  const auto mask = mask_of(access);
  return mask ? mask->masked(text) : std::string(text);
}

std::pair<std::string, std::string> token_header(const Access& access, const std::string& token) {
  if (access.key_header.empty()) return {"Authorization", "Bearer " + token};
  return {access.key_header, token};
}

outbound::HttpRequest basic_request(std::string url, const Access& access, const std::string& token,
                                    const std::string& trace, std::string_view version) {
  outbound::HttpRequest request;
  request.url = std::move(url);
  request.answer_max = access.answer_max;
  request.intake = access.intake;
  request.policy = access.policy;
  request.breakers = access.breakers;
  request.counts = access.counts;
  request.proxy = access.proxy;
  request.despite_breaker = access.despite_breaker;
  request.mask = mask_of(access);
  if (!version.empty()) request.headers.emplace_back("A2A-Version", version);
  if (!token.empty()) request.headers.push_back(token_header(access, token));
  if (!trace.empty()) request.headers.emplace_back("traceparent", trace);
  return request;
}

namespace {

outbound::HttpRequest bare_request_of(const Remote& remote, const protocol::a2a::ClientRequest& request,
                                      const std::string& token, const std::string& trace) {
  std::string url = remote.url;
  if (!request.path.empty()) {
    while (url.ends_with('/')) url.pop_back();
    url += request.path;
  }
  // Sends A2A-Version always: servers before 1.0 ignore it, and servers of several versions need it.
  outbound::HttpRequest out = basic_request(std::move(url), remote.access, token, trace,
                                            protocol::name_of(remote.dialect->version()));
  out.method = request.method;
  out.body = request.body;
  if (!request.body.empty()) out.content_type = "application/json";
  return out;
}

}  // namespace

outbound::HttpRequest http_request_of(const Remote& remote, const protocol::a2a::ClientRequest& request,
                                      const std::string& token, const std::string& trace) {
  outbound::HttpRequest out = bare_request_of(remote, request, token, trace);
  out.headers.emplace_back("Accept", "application/json");
  return out;
}

outbound::HttpRequest http_request_of(const Remote& remote, const StreamRequest& request,
                                      const std::string& token, const std::string& trace) {
  outbound::HttpRequest out = bare_request_of(remote, request.request, token, trace);
  out.total_timeout = milliseconds(0);
  out.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (request.after) out.headers.emplace_back("Last-Event-ID", std::to_string(*request.after));
  return out;
}

}  // namespace baton::client
