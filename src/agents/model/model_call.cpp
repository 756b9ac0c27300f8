#include "agents/model/model_call.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <list>
#include <optional>
#include <utility>

#include "base/text.h"
#include "client/decode.h"
#include "json/document.h"
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
constexpr milliseconds kPieceWait{30'000};  // after a piece of the answer that reports an end

// Longer texts are decoded elsewhere, so that other turns do not wait.
constexpr std::size_t kDecodedHere = outbound::ByteBudget::kFree;

// Reads the bytes of one answer: a stream of events, or a single JSON document.
class ModelAnswerReading {
 public:
  ModelAnswerReading(const AgentSettings& settings, outbound::Intake* intake, AnswerReader& answer,
                     const ModelCall::OnPiece& on_piece)
      : line_max_(settings.line_max),
        output_max_(settings.output_max),
        intake_(intake),
        answer_(answer),
        on_piece_(on_piece),
        events_(settings.line_max, protocol::SseReader::ErrorField::event) {}

  // Reads the events of a piece of the answer, up to a long one.
  void feed(std::string_view piece) {
    is_over_ = is_over_ || (ended_ && left_after_end().count() <= 0);
    if (!goes_on()) return;
    bytes_ += piece.size();
    if (bytes_ > output_max_)
      return refuse("the model's answer is larger than its card allows (output_max_bytes)");
    if (!is_stream_) plain_.append(piece.substr(0, line_max_ + 1 - std::min(line_max_ + 1, plain_.size())));
    const auto goes_on = events_.feed(piece, [this](const protocol::SseEvent& event) {
      is_stream_ = true;
      plain_ = {};
      if (waiting_.empty() && !is_long(event)) {
        take_event(event);
      } else {
        keep(event);
      }
      return this->goes_on();
    });
    if (!goes_on) refuse("a line of the model's answer is longer than its card allows (line_max_bytes)");
  }

  // Collects what ends the answer. `lost`: why the connection ended before the answer did; empty: it did not.
  void feed_end(const std::string& lost) {
    // Some servers leave out the empty line after the last event.
    if (lost.empty() && goes_on()) feed("\n\n");
    is_whole_ = !is_stream_ && !end_ && !plain_.empty();
    if (!is_whole_) return;
    // As in a stream, a mark at the beginning is passed over, and bytes that are not UTF-8 are replaced.
    std::string text = std::exchange(plain_, {});
    text.erase(0, text.size() - base::without_mark(text).size());
    if (!base::is_utf8(text)) text = base::replaced_utf8(text);
    keep({.type = "message", .data = std::move(text), .numbered = false});
  }

  bool has_next() const { return goes_on() && !waiting_.empty(); }
  bool is_next_long() const { return is_long(waiting_.front()); }
  bool goes_on() const { return !end_ && !is_over_; }

  // Decodes the next event; `take_next` takes the result. From any thread, while no other function is
  // called. Blocks until there is memory for it.
  void decode_next() {
    const protocol::SseEvent& event = waiting_.front();
    const auto right = client::may_decode(event.data, intake_);
    is_memory_short_ = !right;
    try {
      decoded_ = right ? decoded(event) : base::fail(right.error());
    } catch (const std::exception& error) {
      decoded_ = base::fail(base::ErrorCode::internal, "it cannot be read", error.what());
    }
  }

  void take_next() {
    const bool is_decoded = decoded_.has_value();
    const protocol::SseEvent event = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= event.data.size();
    if (is_decoded) {
      auto piece = *std::exchange(decoded_, std::nullopt);
      take_piece(std::move(piece));
    } else {
      take_event(event);
    }
    count();
  }

  // Counts the bytes that are kept.
  void count() const {
    if (intake_ != nullptr)
      intake_->keep(events_.unfinished() + plain_.size() + waiting_bytes_ + answer_.held());
  }

  // `lost`: as above. Call when all events are read.
  ModelCallEnd end(const std::string& lost) const {
    if (end_) return *end_;
    if (answer_.end() == AnswerReader::End::broken_off)
      return {Kind::broken_off, "its server broke off the answer (" + answer_.finish_reason() + ")"};
    if (answer_.end() != AnswerReader::End::none) return {};
    if (is_whole_)
      return {Kind::broken_off, "the model's answer is not of the API that the card names (model.api)"};
    return {Kind::broken_off, lost.empty() ? "the model's answer stopped before its end" : lost};
  }

  // The longest wait for more of the answer; zero: no limit. A server that has reported the end may still
  // send the usage, but some keep the connection open instead, and some send comments over it. Others report
  // an end with every piece of the answer, and their next piece may take longer.
  milliseconds patience() const {
    return ended_ ? std::max(milliseconds(1), left_after_end()) : milliseconds(0);
  }

 private:
  milliseconds left_after_end() const {
    const milliseconds wait = is_settled_ ? kUsageWait : kPieceWait;
    return std::chrono::ceil<milliseconds>(*ended_ + wait - std::chrono::steady_clock::now());
  }

  void keep(protocol::SseEvent event) {
    waiting_bytes_ += event.data.size();
    waiting_.push_back(std::move(event));
  }

  void take_event(const protocol::SseEvent& event) {
    if (event.data.starts_with("[DONE]")) {
      is_over_ = true;
      show(answer_.done());
      return;
    }
    // A stray line of another kind is passed over, as the standard requires.
    if (event.is_bare && !protocol::models::error_of(json::Document::view_of(event.data).root())) return;
    if (event.type == "error") {
      AnswerError error = protocol::models::read_error(event.data);
      error.message = outbound::words_of(event.data);
      return take_error(error);
    }
    take_piece(decoded(event));
  }

  base::Result<AnswerPiece> decoded(const protocol::SseEvent& event) {
    // Names are not of this protocol: such events are keep-alives.
    const bool is_named = event.type != "message";
    if (is_named && !json::Document::view_of(event.data).root().is_object()) return AnswerPiece();
    return answer_.take(event.data);
  }

  static bool is_long(const protocol::SseEvent& event) {
    return event.data.size() > kDecodedHere && event.type != "error";
  }

  void take_piece(base::Result<AnswerPiece> piece) {
    const bool is_short = std::exchange(is_memory_short_, false);
    if (!piece && (is_short || piece.error().code == base::ErrorCode::too_large))
      return refuse(piece.error().for_caller);
    if (!piece) {
      end_ = {Kind::broken_off, "the model's answer is invalid: " + piece.error().for_caller};
      return;
    }
    if (answer_.error()) return take_error(*answer_.error());
    const bool is_piece = std::exchange(pieces_, answer_.pieces()) != answer_.pieces();
    const bool had_settled = std::exchange(is_settled_, answer_.has_settled());
    const bool settles = is_settled_ && !had_settled;
    if (answer_.end() != AnswerReader::End::none && (!ended_ || is_piece || settles))
      ended_ = std::chrono::steady_clock::now();
    if (!show(std::move(*piece))) return;
    is_over_ = answer_.is_over();
  }

  bool show(AnswerPiece piece) {
    has_said_ = has_said_ || !piece.text.empty() || !piece.reasoning.empty();
    if (on_piece_(std::move(piece))) return true;
    end_ = {Kind::stopped};
    return false;
  }

  // Once the answer has begun, another attempt is worthwhile whatever the reason. If the server is busy and
  // has shown nothing, the answer has not begun: after a break few attempts are made, and a card may forbid
  // them.
  void take_error(const AnswerError& error) {
    const bool has_begun = has_said_ || (answer_.pieces() > 0 && !error.busy);
    const Kind kind = has_begun ? Kind::broken_off : error.busy ? Kind::busy : Kind::refused;
    end_ = {kind, error.message.empty() ? error.code : error.message};
  }

  void refuse(std::string reason) { end_ = {Kind::refused, std::move(reason)}; }

  const std::size_t line_max_;
  const std::uint64_t output_max_;
  outbound::Intake* const intake_;
  AnswerReader& answer_;
  const ModelCall::OnPiece& on_piece_;
  protocol::SseReader events_;
  std::list<protocol::SseEvent> waiting_;  // a long one and those after it
  std::size_t waiting_bytes_ = 0;
  std::optional<base::Result<AnswerPiece>> decoded_;  // of the first one
  bool is_memory_short_ = false;                      // `decoded_` says so
  std::string plain_;                                 // the bytes received before the first event
  std::uint64_t bytes_ = 0;
  bool is_stream_ = false;
  bool is_whole_ = false;
  bool has_said_ = false;
  bool is_over_ = false;     // nothing that follows counts
  std::size_t pieces_ = 0;   // as the answer counts them
  bool is_settled_ = false;  // AnswerReader::has_settled
  // When the present wait after an end began.
  std::optional<std::chrono::steady_clock::time_point> ended_;
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
  const auto outcome = outbound::outcome_of(answer.status);
  const Kind kind = protocol::models::read_error(answer.body).unpaid ? Kind::refused
                    : outcome == outbound::Outcome::busy             ? Kind::busy
                    : outcome == outbound::Outcome::lost             ? Kind::unreachable
                                                                     : Kind::refused;
  ModelCallEnd end{kind, std::move(text), outbound::retry_after(answer)};
  end.status = answer.status;
  return end;
}

// Whether the end of the call depends on what was read of the answer.
bool has_answer(const outbound::Posted& posted) {
  using Came = outbound::Posted::Kind;
  return posted.kind == Came::answered || (posted.kind == Came::lost && posted.has_begun);
}

// The end of a call whose request got no answer.
ModelCallEnd end_of(const outbound::Posted& posted, bool is_verbose) {
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
    case Came::answered:
      break;
  }
  return {Kind::broken_off, posted.text};
}

}  // namespace

class ModelCall::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(std::shared_ptr<const Model> model, ModelRequestText request, std::unique_ptr<Reader> answer,
          OnPiece on_piece, OnEnd on_end)
      : model_(std::move(model)),
        intake_(std::move(request.intake)),
        answer_(std::move(answer)),
        on_piece_(std::move(on_piece)),
        on_end_(std::move(on_end)),
        timer_(model_->rules.spans, request.trace),
        reading_(model_->settings, intake_.get(), *answer_, on_piece_) {
    const protocol::models::Dialect& dialect = protocol::models::dialect_of(model_->settings.model.api);
    url_ = protocol::models::url_of(dialect, model_->settings.endpoint.url);
    outbound::Post post{.url = url_,
                        .body = std::move(request.body),
                        .accept = "text/event-stream, application/json",
                        .time_max = request.time_max,
                        .despite_breaker = request.despite_breaker,
                        .trace = timer_.trace(),
                        .intake = intake_.get(),
                        .patience = [this] { return patience(); },
                        .headers = headers_of(model_->settings.model, dialect)};
    post_.emplace(
        outbound::PostCall::Services{model_->services.loop, model_->services.blocking},
        model_->settings.endpoint, model_->rules, model_->credentials, std::move(post),
        [this](std::string_view piece) { return take(piece); },
        [this](outbound::Posted posted) { take_end(std::move(posted)); });
  }

  void start() {
    const auto self = shared_from_this();
    post_->start();
  }

  void cancel() {
    if (std::exchange(is_over_, true)) return;
    post_.reset();
    end_span("");
  }

  void pause() {
    is_full_ = true;
    if (post_) post_->pause();
  }
  void resume() {
    is_full_ = false;
    if (post_ && !is_decoding_) post_->resume();
  }

 private:
  // Another thread that decodes has `reading_` to itself.
  milliseconds patience() { return is_decoding_ ? milliseconds(0) : reading_.patience(); }

  // Returns whether to read on.
  bool take(std::string_view piece) {
    const auto self = shared_from_this();
    reading_.feed(piece);
    return read();
  }

  bool read() {
    while (reading_.has_next()) {
      if (reading_.is_next_long()) {
        decode();
        return true;
      }
      reading_.take_next();
      if (is_over_) return false;
    }
    reading_.count();
    return reading_.goes_on();
  }

  // Has the next event decoded by another thread.
  void decode() {
    is_decoding_ = true;
    if (post_) post_->pause();
    const bool is_taken = model_->services.decoding.try_submit([self = shared_from_this()]() mutable {
      self->reading_.decode_next();
      base::EventLoop& loop = self->model_->services.loop;
      loop.post([self = std::move(self)] { self->go_on(); });
    });
    if (is_taken) return;
    is_decoding_ = false;
    end({Kind::unreachable, "too many answers are decoded at once"});
  }

  // The next event is decoded.
  void go_on() {
    is_decoding_ = false;
    if (is_over_) return;
    try {
      take_decoded();
    } catch (const std::exception&) {
      fail_to_read();
    }
  }

  void fail_to_read() { end({Kind::broken_off, "the model's answer cannot be read"}); }

  void take_decoded() {
    reading_.take_next();
    if (is_over_) return;
    const bool goes_on = read();
    if (is_over_ || is_decoding_) return;
    if (!goes_on || posted_) return conclude();
    if (!is_full_) post_->resume();
  }

  void take_end(outbound::Posted posted) {
    const auto self = shared_from_this();
    posted_ = std::move(posted);
    post_.reset();
    if (is_decoding_) return;
    try {
      if (!read() || !is_decoding_) conclude();
    } catch (const std::exception&) {
      fail_to_read();
    }
  }

  // All that came is read.
  void conclude() {
    if (is_over_) return;
    if (!posted_) posted_.emplace();  // nothing more is wanted of the server
    if (!has_answer(*posted_)) return end(end_of(*posted_, model_->settings.verbose_errors));
    if (!std::exchange(is_fed_, true)) {
      reading_.feed_end(lost());
      read();
      if (is_decoding_ || is_over_) return;
    }
    end(reading_.end(lost()));
  }

  std::string lost() const {
    return posted_->kind == outbound::Posted::Kind::lost ? posted_->text : std::string();
  }

  void end(ModelCallEnd end) {
    is_over_ = true;
    post_.reset();
    const outbound::Posted posted = posted_ ? std::move(*posted_) : outbound::Posted();
    if (intake_) intake_->keep(0);
    end.held = posted.held;
    end.asks = posted.asks;
    if (end.held || end.kind == Kind::busy || posted.kind == outbound::Posted::Kind::no_token)
      end.retry_after = posted.retry_after;
    end.text = outbound::shown_error(std::move(end.text), posted.token);
    end_span(end.kind == Kind::complete || end.kind == Kind::stopped ? "" : end.text);
    const auto on_end = std::move(on_end_);
    on_end(std::move(end), std::move(answer_));
  }

  void end_span(const std::string& error) {
    const std::string& name = model_->settings.model.name;
    outbound::add_call_span(timer_, {"chat " + name, url_, error, name});
  }

  const std::shared_ptr<const Model> model_;        // shared with the turn and the executor
  const std::shared_ptr<outbound::Intake> intake_;  // shared with the turn
  std::unique_ptr<Reader> answer_;
  const OnPiece on_piece_;
  OnEnd on_end_;
  base::SpanTimer timer_;
  ModelAnswerReading reading_;
  std::string url_;
  std::optional<outbound::PostCall> post_;
  std::optional<outbound::Posted> posted_;
  bool is_full_ = false;      // `pause`
  bool is_decoding_ = false;  // another thread decodes the next event
  bool is_fed_ = false;       // the end of the answer is among the events
  bool is_over_ = false;
};

ModelCall::ModelCall(std::shared_ptr<const Model> model, ModelRequestText request,
                     std::unique_ptr<Reader> answer, OnPiece on_piece, OnEnd on_end)
    : running_(std::make_shared<Running>(std::move(model), std::move(request), std::move(answer),
                                         std::move(on_piece), std::move(on_end))) {}

ModelCall::~ModelCall() {
  running_->cancel();
}

void ModelCall::start() {
  running_->start();
}

void ModelCall::pause() {
  running_->pause();
}

void ModelCall::resume() {
  running_->resume();
}

}  // namespace baton::agents
