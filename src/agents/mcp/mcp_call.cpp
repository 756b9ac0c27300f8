#include "agents/mcp/mcp_call.h"

#include <algorithm>
#include <exception>
#include <list>
#include <utility>
#include <vector>

#include "base/span.h"
#include "client/decode.h"
#include "outbound/backoff.h"
#include "outbound/call_span.h"
#include "outbound/outcome.h"
#include "outbound/refusal.h"
#include "protocol/sse/sse_reader.h"

namespace baton::agents {
namespace {

using outbound::Posted;
using protocol::mcp::Asking;
using protocol::mcp::Spoken;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kMcpRetryFirst{500}, kMcpRetryMax{30'000};
// How long an unreachable server is retried. It is most likely absent; one that restarts comes back sooner.
constexpr std::chrono::seconds kMcpReachMax{30};
// For one answer to a request of the server; and how many such answers of a call may be under way.
constexpr milliseconds kReplyTime{10'000};
constexpr std::size_t kRepliesMax = 100;
// Longer texts are decoded elsewhere, so that other turns do not wait.
constexpr std::size_t kMcpDecodedHere = outbound::ByteBudget::kFree;

// Collects the answer to one request from the pieces of its body: JSON, or a stream whose events may be
// notifications before the response.
class McpAnswerText {
 public:
  McpAnswerText(std::size_t bytes_max, int id) : bytes_max_(bytes_max), id_(id), events_(bytes_max) {}

  // Returns whether more is wanted.
  bool feed(std::string_view piece) {
    bytes_ += piece.size();
    is_too_large_ |= bytes_ > bytes_max_;
    if (is_too_large_) return false;
    if (!is_stream_) plain_.append(piece);
    const auto goes_on = events_.feed(piece, [this](const protocol::SseEvent& event) { return take(event); });
    is_too_large_ |= !goes_on;
    return goes_on && *goes_on;
  }
  void feed_end() {
    if (is_stream_ && !is_complete_) feed("\n\n");  // some servers leave out the last empty line
  }

  bool is_too_large() const { return is_too_large_; }
  std::size_t held() const { return events_.unfinished() + plain_.size(); }
  // The answers to requests of the server that have come since the last time.
  std::vector<std::string> take_replies() { return std::exchange(replies_, {}); }
  std::string take_text() { return is_stream_ && !is_complete_ ? std::string() : std::move(plain_); }

 private:
  bool take(const protocol::SseEvent& event) {
    if (!std::exchange(is_stream_, true)) plain_ = {};
    const bool is_long = event.data.size() > kMcpDecodedHere;
    const auto document = json::Document::view_of(is_long ? std::string_view() : event.data);
    if (!is_long && !protocol::mcp::read_response(document.root(), id_)) {
      if (auto reply = protocol::mcp::reply_to(document.root())) replies_.push_back(std::move(*reply));
      return true;
    }
    plain_ = event.data;
    is_complete_ = true;
    return false;
  }

  const std::size_t bytes_max_;
  const int id_;
  protocol::SseReader events_;
  std::string plain_;  // the body, or the event with the response
  std::vector<std::string> replies_;
  std::size_t bytes_ = 0;
  bool is_stream_ = false;
  bool is_complete_ = false;
  bool is_too_large_ = false;
};

bool is_final(const Posted& posted) {
  return posted.kind == Posted::Kind::refused && !outbound::may_pass(posted.answer.status);
}

}  // namespace

class McpCall::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(std::shared_ptr<const McpServer> server, McpRequest request, Read read, OnEnd on_end)
      : server_(std::move(server)),
        request_(std::move(request)),
        read_(std::move(read)),
        on_end_(std::move(on_end)),
        deadline_(Clock::now() + request_.time_max),
        intake_(std::make_unique<outbound::Intake>(server_->rules.budget, request_.account)),
        timer_(server_->rules.spans, request_.trace) {}

  void start() {
    const auto self = shared_from_this();
    begin();
  }

  int id() const { return id_; }

  void cancel() {
    intake_->stop();
    if (std::exchange(is_over_, true)) return;
    release();
    end_span("");
  }

 private:
  // discover: finds out whether the server is modern. initialize and initialized: begin a legacy session.
  enum class Step { discover, initialize, initialized, ask };

  void begin() {
    backoff_.emplace(kMcpRetryFirst, kMcpRetryMax);
    go_to(server_->spoken ? Step::ask : Step::discover);
  }

  void go_to(Step step) {
    step_ = step;
    send();
  }

  void send() {
    Asking asking = request_.asking;
    if (step_ == Step::discover) asking = {"server/discover"};
    if (step_ == Step::initialize) asking = protocol::mcp::initialize();
    if (step_ == Step::initialized) asking = {"notifications/initialized"};
    how_ = step_ == Step::ask          ? server_->spoken.value_or(Spoken())
           : step_ == Step::initialize ? Spoken{std::string(), {}}
           : step_ == Step::discover   ? Spoken()
                                       : begun_;
    const int id = asking.method.starts_with("notifications/") ? 0 : ++id_;
    text_.emplace(server_->answer_max, id);
    const milliseconds time_max = step_ == Step::discover ? std::min(left(), server_->discover_max) : left();
    discover_until_ = Clock::now() + time_max;
    outbound::Post post{.url = server_->settings.server.url,
                        .body = protocol::mcp::write_request(asking, how_, id),
                        .accept = "application/json, text/event-stream",
                        .time_max = time_max,
                        .despite_breaker = despite_breaker_,
                        .trace = timer_.trace(),
                        .intake = intake_.get(),
                        .headers = protocol::mcp::headers_of(asking, how_)};
    post_.emplace(
        outbound::PostCall::Services{server_->services.loop, server_->services.blocking},
        server_->settings.server, server_->rules, server_->credentials, std::move(post),
        [this](std::string_view piece) {
          const bool goes_on = text_->feed(piece);
          intake_->keep(text_->held());
          reply(text_->take_replies());
          return goes_on;
        },
        [this](Posted posted) { take(std::move(posted)); });
    post_->start();
  }

  // A server whose request is not answered may wait for ever.
  void reply(std::vector<std::string> bodies) {
    if (step_ != Step::ask || how_.is_modern()) return;
    for (std::string& body : bodies) {
      if (replies_.size() == kRepliesMax) return;
      outbound::Post post{.url = server_->settings.server.url,
                          .body = std::move(body),
                          .accept = "application/json, text/event-stream",
                          .time_max = kReplyTime,
                          .trace = timer_.trace(),
                          .headers = protocol::mcp::headers_of({}, how_)};
      const auto place = replies_.emplace(replies_.end());
      place->emplace(
          outbound::PostCall::Services{server_->services.loop, server_->services.blocking},
          server_->settings.server, server_->rules, server_->credentials, std::move(post),
          [](std::string_view) { return false; }, [this, place](const Posted&) { replies_.erase(place); });
      (*place)->start();  // it may be gone before this returns
    }
  }

  void take(Posted posted) {
    const auto self = shared_from_this();
    post_.reset();
    if (is_over_) return;
    try {
      take_whole(posted);
    } catch (const std::exception&) {
      end({McpCallEnd::Kind::unknown, "its answer cannot be read"});
    }
  }

  void take_whole(const Posted& posted) {
    if (step_ == Step::initialized) return finish_session();
    if (step_ == Step::ask && request_.asking.method.starts_with("notifications/")) return end({});
    if (step_ == Step::ask && is_forgotten(posted)) {
      // Another call may have begun a new session meanwhile.
      if (server_->spoken == how_) server_->spoken.reset();
      return go_to(server_->spoken ? Step::ask : Step::discover);
    }
    if (text_->is_too_large()) return end({McpCallEnd::Kind::refused, "its answer is too large"});
    if (posted.kind == Posted::Kind::refused && (posted.answer.status == 401 || posted.answer.status == 403))
      return end(refusal(posted));
    if (posted.kind == Posted::Kind::forbidden) return end({McpCallEnd::Kind::refused, posted.text});
    if (step_ == Step::discover && cannot_discover(posted)) return go_to(Step::initialize);
    if (posted.kind != Posted::Kind::answered && !is_final(posted)) return try_again(posted);
    text_->feed_end();
    std::string text = is_final(posted) ? posted.answer.body : text_->take_text();
    if (step_ == Step::discover) return learn(text);
    if (step_ == Step::initialize) return begin_session(posted, text);
    if (is_final(posted)) return end(refusal(posted));
    decode(std::move(text));
  }

  // Whether the server has failed because it does not know the method. Servers on Java's SDK, such as those
  // of Spring AI, answer 500, and some on older SDKs never answer.
  bool cannot_discover(const Posted& posted) const {
    const int status = posted.kind == Posted::Kind::refused ? posted.answer.status : 0;
    const bool is_late = posted.kind == Posted::Kind::lost && Clock::now() >= discover_until_;
    return status == 500 || status == 501 || is_late;
  }

  // Whether the server has changed, or has forgotten the session. The specification wants a 404 for the
  // latter. Many servers in TypeScript and Atlassian's answer 400 with a code of their own, and older ones on
  // the Rust SDK answer 401 without a challenge.
  bool is_forgotten(const Posted& posted) {
    if (posted.kind != Posted::Kind::refused || is_renewed_) return false;
    const int status = posted.answer.status;
    const bool has_session = !how_.session.empty();
    if (status == 401) {
      is_renewed_ = has_session && outbound::header_of(posted.answer, "WWW-Authenticate").empty();
      return is_renewed_;
    }
    if (status != 400 && status != 404 && status != 405) return false;
    const auto document = json::Document::view_of(posted.answer.body);
    const auto response = protocol::mcp::read_response(document.root(), id_);
    const int code = response ? response->failure.code : 0;
    const bool is_about_request =
        code == protocol::mcp::kInvalidParams || code == protocol::mcp::kMethodNotFound;
    is_renewed_ = !response || code == protocol::mcp::kUnsupportedVersion ||
                  (has_session && (status == 404 || !is_about_request));
    return is_renewed_;
  }

  // Only a modern server answers with what these revisions say.
  void learn(const std::string& text) {
    const auto document = json::Document::view_of(text);
    const auto response = protocol::mcp::read_response(document.root(), id_);
    const int code = response ? response->failure.code : 0;
    const bool is_modern =
        response &&
        (!response->result["supportedVersions"].absent() || !response->result["resultType"].absent() ||
         code == protocol::mcp::kMissingCapability || code == protocol::mcp::kHeaderMismatch);
    if (!is_modern) return go_to(Step::initialize);
    server_->spoken.emplace();
    go_to(Step::ask);
  }

  void begin_session(const Posted& posted, const std::string& text) {
    if (is_final(posted)) return end(refusal(posted));
    const auto document = json::Document::view_of(text);
    const auto response = protocol::mcp::read_response(document.root(), id_);
    if (!response || response->result.missing())
      return end({McpCallEnd::Kind::refused,
                  "it does not speak MCP" + (response ? ": " + shown(response->failure.text, posted) : "")});
    begun_ = {protocol::mcp::chosen_version(response->result),
              outbound::header_of(posted.answer, "Mcp-Session-Id")};
    if (begun_.version.empty())
      return end({McpCallEnd::Kind::refused, "it speaks no revision of MCP that Baton knows"});
    go_to(Step::initialized);
  }

  void finish_session() {
    server_->spoken = begun_;
    go_to(Step::ask);
  }

  void try_again(const Posted& posted) {
    using Came = Posted::Kind;
    const bool is_busy =
        posted.kind == Came::refused && outbound::outcome_of(posted.answer.status) == outbound::Outcome::busy;
    const bool is_unsent =
        posted.kind == Came::unreachable || (posted.kind == Came::no_token && posted.may_come);
    if (posted.kind == Came::no_token && !posted.may_come)
      return end({McpCallEnd::Kind::refused, posted.text, posted.asks});
    const bool may_have_acted = step_ == Step::ask && !is_busy && !is_unsent;
    const auto kind = may_have_acted ? McpCallEnd::Kind::unknown : McpCallEnd::Kind::unsent;
    const std::string why = posted.kind == Came::refused ? refusal(posted).text : shown(posted.text, posted);
    if (may_have_acted && !request_.may_repeat) return end({kind, why});
    if (!trouble_) trouble_ = Clock::now();
    const auto reach = std::chrono::duration_cast<milliseconds>(*trouble_ + kMcpReachMax - Clock::now());
    const auto pause =
        backoff_->after({posted.retry_after, posted.held}, is_busy ? left() : std::min(left(), reach));
    if (!pause) return end({kind, why});
    despite_breaker_ = pause->despite_breaker;
    retry_ = server_->services.loop.after(pause->time, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || self->is_over_) return;
      self->retry_ = 0;
      self->send();
    });
  }

  McpCallEnd refusal(const Posted& posted) const {
    return {McpCallEnd::Kind::refused,
            "it answered with " +
                outbound::refusal_text(posted.answer,
                                       {.secret = posted.token, .shows_keys = server_->verbose_errors}),
            posted.asks};
  }

  static std::string shown(const std::string& text, const Posted& posted) {
    return outbound::shown_error(text, posted.token);
  }

  void decode(std::string text) {
    if (text.size() <= kMcpDecodedHere) return end(read(text));
    const bool is_taken =
        server_->services.decoding.try_submit([self = shared_from_this(), text = std::move(text)]() mutable {
          McpCallEnd end{McpCallEnd::Kind::unknown, "its answer cannot be read"};
          try {
            const auto right = client::may_decode(text, self->intake_.get());
            end = right ? self->read(text) : McpCallEnd{McpCallEnd::Kind::refused, right.error().for_caller};
          } catch (const std::exception&) {
            end = {McpCallEnd::Kind::unknown, "its answer cannot be read"};
          }
          base::EventLoop& loop = self->server_->services.loop;
          loop.post([self = std::move(self), end = std::move(end)] { self->end(end); });
        });
    if (!is_taken) end({McpCallEnd::Kind::unknown, "too many answers are decoded at once"});
  }

  McpCallEnd read(const std::string& text) const {
    const auto document = json::Document::view_of(text);
    const auto response = protocol::mcp::read_response(document.root(), id_);
    if (!response) return {McpCallEnd::Kind::unknown, "its answer is not one of MCP"};
    if (response->result.missing())
      return {McpCallEnd::Kind::refused, outbound::shown_error(response->failure.text, {})};
    read_(response->result);
    return {};
  }

  milliseconds left() const {
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  void release() {
    post_.reset();
    replies_.clear();
    server_->services.loop.cancel(std::exchange(retry_, 0));
  }

  void end(McpCallEnd end) {
    if (std::exchange(is_over_, true)) return;
    release();
    intake_->keep(0);
    end_span(end.text);
    const auto on_end = std::move(on_end_);
    on_end(std::move(end));
  }

  void end_span(const std::string& error) {
    const std::string& name = request_.asking.name;
    outbound::add_call_span(timer_, {request_.asking.method + (name.empty() ? "" : " " + name),
                                     server_->settings.server.url, error});
  }

  const std::shared_ptr<const McpServer> server_;  // shared with other calls
  const McpRequest request_;
  const Read read_;
  OnEnd on_end_;
  const Clock::time_point deadline_;
  Clock::time_point discover_until_;  // the last moment for an answer to server/discover
  const std::unique_ptr<outbound::Intake> intake_;
  base::SpanTimer timer_;
  Step step_ = Step::discover;
  int id_ = 0;
  Spoken how_;    // of the request that is being made
  Spoken begun_;  // the legacy session that begins
  std::optional<McpAnswerText> text_;
  std::optional<outbound::Backoff> backoff_;
  std::optional<Clock::time_point> trouble_;
  bool despite_breaker_ = false;
  bool is_renewed_ = false;
  bool is_over_ = false;
  base::EventLoop::TimerId retry_ = 0;
  std::optional<outbound::PostCall> post_;
  std::list<std::optional<outbound::PostCall>> replies_;  // under way, to requests of the server
};

McpCall::McpCall(std::shared_ptr<const McpServer> server, McpRequest request, Read read, OnEnd on_end)
    : running_(std::make_shared<Running>(std::move(server), std::move(request), std::move(read),
                                         std::move(on_end))) {}

McpCall::~McpCall() {
  running_->cancel();
}

void McpCall::start() {
  running_->start();
}

int McpCall::id() const {
  return running_->id();
}

}  // namespace baton::agents
