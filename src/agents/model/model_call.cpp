#include "agents/model/model_call.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "client/decode.h"
#include "outbound/call_span.h"
#include "outbound/outcome.h"
#include "outbound/post.h"
#include "outbound/refusal.h"
#include "protocol/models/dialects.h"
#include "protocol/sse/sse_reader.h"

namespace baton::agents {
namespace {

using outbound::HttpAnswer;
using protocol::models::AnswerError;
using protocol::models::AnswerPiece;
using protocol::models::AnswerReader;
using std::chrono::milliseconds;
using Kind = ModelCallEnd::Kind;

constexpr milliseconds kUsageWait{2'000};

// Reads the bytes of one answer: a stream of events, or a single JSON document.
class ModelAnswerReading {
 public:
  ModelAnswerReading(const AgentSettings& settings, outbound::Intake* intake, AnswerReader& answer,
                     const OnAnswerPiece& on_piece)
      : line_max_(settings.line_max),
        output_max_(settings.output_max),
        intake_(intake),
        answer_(answer),
        on_piece_(on_piece),
        events_(settings.line_max) {}

  bool take(std::string_view piece) {
    if (ended_ && left_for_usage().count() <= 0) return false;
    bytes_ += piece.size();
    if (bytes_ > output_max_)
      return refuse("the model's answer is larger than its card allows (output_max_bytes)");
    if (!is_stream_) plain_.append(piece.substr(0, line_max_ + 1 - std::min(line_max_ + 1, plain_.size())));
    const auto goes_on = events_.feed(piece, [this](const protocol::SseEvent& event) {
      is_stream_ = true;
      plain_.clear();
      return take_event(event);
    });
    if (!goes_on)
      return refuse("a line of the model's answer is longer than its card allows (line_max_bytes)");
    if (intake_ != nullptr) intake_->keep(events_.unfinished() + plain_.size() + answer_.held());
    return *goes_on;
  }

  // `lost`: why the connection ended before the answer did; empty: it did not.
  ModelCallEnd end(const std::string& lost) {
    // Some servers leave out the empty line after the last event.
    if (lost.empty() && !end_ && !is_over_) take("\n\n");
    const bool is_whole = !is_stream_ && !end_ && !plain_.empty();
    if (is_whole) take_json(plain_);
    if (end_) return *end_;
    if (answer_.end() == AnswerReader::End::broken_off)
      return {Kind::broken_off, "its server broke off the answer (" + answer_.finish_reason() + ")"};
    if (answer_.end() != AnswerReader::End::none) return {};
    if (is_whole)
      return {Kind::broken_off, "the model's answer is not of the API that the card names (model.api)"};
    return {Kind::broken_off, lost.empty() ? "the model's answer stopped before its end" : lost};
  }

  // The longest wait for more of the answer; zero: no limit. A server that has said the end may still send
  // the usage, but some keep the connection open instead, and some send comments over it.
  milliseconds patience() {
    if (answer_.end() == AnswerReader::End::none) return milliseconds(0);
    if (!ended_) ended_ = std::chrono::steady_clock::now();
    return std::max(milliseconds(1), left_for_usage());
  }

 private:
  milliseconds left_for_usage() const {
    return std::chrono::ceil<milliseconds>(*ended_ + kUsageWait - std::chrono::steady_clock::now());
  }

  bool take_event(const protocol::SseEvent& event) {
    if (event.data.starts_with("[DONE]")) {
      is_over_ = true;
      show(answer_.done());
      return false;
    }
    if (event.type == "error") {
      AnswerError error = protocol::models::read_error(event.data);
      error.message = outbound::words_of(event.data);
      return take_error(error);
    }
    // Names are not of this protocol: such events are keep-alives.
    const bool is_named = event.type != "message";
    if (is_named && !json::Document::view_of(event.data).root().is_object()) return true;
    return take_json(event.data);
  }

  bool take_json(const std::string& json) {
    const auto right = client::may_decode(json, intake_);
    if (!right) return refuse(right.error().for_caller);
    auto piece = answer_.take(json);
    if (!piece && piece.error().code == base::ErrorCode::too_large) return refuse(piece.error().for_caller);
    if (!piece) {
      end_ = {Kind::broken_off, "the model's answer is invalid: " + piece.error().for_caller};
      return false;
    }
    if (answer_.error()) return take_error(*answer_.error());
    if (!show(std::move(*piece))) return false;
    is_over_ = answer_.is_over();
    return !is_over_;
  }

  bool show(AnswerPiece piece) {
    has_said_ = has_said_ || !piece.text.empty() || !piece.reasoning.empty();
    if (on_piece_(std::move(piece))) return true;
    end_ = {Kind::stopped};
    return false;
  }

  // Once the answer has begun, another attempt is worthwhile whatever the reason.
  bool take_error(const AnswerError& error) {
    const Kind kind = has_said_ ? Kind::broken_off : error.busy ? Kind::busy : Kind::refused;
    end_ = {kind, error.message.empty() ? error.code : error.message};
    return false;
  }

  bool refuse(std::string reason) {
    end_ = {Kind::refused, std::move(reason)};
    return false;
  }

  const std::size_t line_max_;
  const std::uint64_t output_max_;
  outbound::Intake* const intake_;
  AnswerReader& answer_;
  const OnAnswerPiece& on_piece_;
  protocol::SseReader events_;
  std::string plain_;  // the bytes received before the first event
  std::uint64_t bytes_ = 0;
  bool is_stream_ = false;
  bool has_said_ = false;
  bool is_over_ = false;                                        // nothing that follows counts
  std::optional<std::chrono::steady_clock::time_point> ended_;  // when the server has said the end
  std::optional<ModelCallEnd> end_;
};

// The headers that the API and the card add.
std::vector<std::pair<std::string, std::string>> headers_of(const ModelSettings& model,
                                                            const protocol::models::Dialect& dialect) {
  auto headers = model.headers;
  const auto is_version = [&](const auto& header) {
    return base::same_word(header.first, dialect.version_header);
  };
  if (!dialect.version_header.empty() && std::ranges::none_of(headers, is_version))
    headers.emplace_back(dialect.version_header, dialect.version);
  return headers;
}

// The end of a call that was refused with an HTTP status. `is_verbose`: the agent's author sees it.
ModelCallEnd refusal_in(const HttpAnswer& answer, bool is_verbose) {
  std::string text = "it answered with " + outbound::refusal_text(answer, {.shows_keys = is_verbose});
  // Waiting does not help when the account is used up.
  if (protocol::models::read_error(answer.body).code == "insufficient_quota")
    return {Kind::refused, std::move(text)};
  const auto outcome = outbound::outcome_of(answer.status);
  const Kind kind = outcome == outbound::Outcome::busy   ? Kind::busy
                    : outcome == outbound::Outcome::lost ? Kind::unreachable
                                                         : Kind::refused;
  return {kind, std::move(text), outbound::retry_after(answer)};
}

// The end of a call whose request got no answer or only a part of one.
ModelCallEnd end_of(const outbound::Posted& posted, ModelAnswerReading& reading, bool is_verbose) {
  using Came = outbound::Posted::Kind;
  switch (posted.kind) {
    case Came::no_token:
      return {posted.may_come ? Kind::unreachable : Kind::refused, posted.text};
    case Came::unreachable:
      return {Kind::unreachable, posted.text};
    case Came::forbidden:
      return {Kind::refused, posted.text};
    case Came::refused:
      return refusal_in(posted.answer, is_verbose);
    case Came::lost:
      return posted.has_begun ? reading.end(posted.text) : ModelCallEnd{Kind::broken_off, posted.text};
    case Came::answered:
      break;
  }
  return reading.end("");
}

}  // namespace

ModelCallEnd call_model(const AgentSettings& settings, const outbound::Rules& rules,
                        outbound::Credentials& credentials, const ModelCall& call, AnswerReader& answer,
                        const OnAnswerPiece& on_piece) {
  base::SpanTimer timer(rules.spans, call.trace);
  const protocol::models::Dialect& dialect = protocol::models::dialect_of(settings.model.api);
  outbound::Post post{protocol::models::url_of(dialect, settings.endpoint.url),
                      call.body,
                      "text/event-stream, application/json",
                      call.time_max,
                      call.stop_fd,
                      call.despite_breaker,
                      timer.trace(),
                      call.intake};
  ModelAnswerReading reading(settings, call.intake, answer, on_piece);
  post.headers = headers_of(settings.model, dialect);
  post.patience = [&] { return reading.patience(); };
  const outbound::Posted posted =
      outbound::send_post(settings.endpoint, rules, credentials, post,
                          [&](std::string_view piece) { return reading.take(piece); });
  ModelCallEnd end = end_of(posted, reading, settings.verbose_errors);
  if (call.intake != nullptr) call.intake->keep(0);
  end.held = posted.held;
  if (end.held || end.kind == Kind::busy || posted.kind == outbound::Posted::Kind::no_token)
    end.retry_after = posted.retry_after;
  end.text = outbound::shown_error(std::move(end.text), posted.token);
  const bool is_over = end.kind == Kind::complete || end.kind == Kind::stopped;
  outbound::add_call_span(
      timer, {"chat " + settings.model.name, post.url, is_over ? "" : end.text, settings.model.name});
  return end;
}

}  // namespace baton::agents
