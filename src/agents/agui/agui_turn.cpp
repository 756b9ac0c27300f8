#include "agents/agui/agui_turn.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/agui/run_input.h"
#include "agents/agui/run_relay.h"
#include "agents/caller_ask.h"
#include "base/log.h"
#include "client/decode.h"
#include "json/document.h"
#include "json/writer.h"
#include "outbound/backoff.h"
#include "outbound/call_span.h"
#include "outbound/credentials.h"
#include "outbound/outcome.h"
#include "outbound/post.h"
#include "outbound/refusal.h"
#include "protocol/sse/sse_reader.h"

namespace baton::agents {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using protocol::agui::RunEnd;
using protocol::agui::RunReader;

constexpr milliseconds kRunRetryFirst{200}, kRunRetryMax{5'000};
// How long a server that was never reached is retried. It is most likely absent; one that restarts comes
// back sooner.
constexpr std::chrono::seconds kRunFirstContact{30};
// How long a stream may stay open after a run's end without another run. Servers that run an agent several
// times for one request begin the next run at once, and all others end the stream.
constexpr std::chrono::seconds kRunAfterEnd{2};
constexpr int kRunBreaksMax = 5;  // runs of a turn whose stream may break off
// Longer events are decoded elsewhere, so that other turns do not wait.
constexpr std::size_t kRunDecodedHere = outbound::ByteBudget::kFree;

// How many runs of this turn were broken off.
int breaks_in(const task::Json& kept) {
  const auto document = json::Document::view_of(kept.text);
  return static_cast<int>(
      std::clamp<std::int64_t>(document.root()["breaks"].integer().value_or(0), 0, 1'000));
}

task::ExecutorState state_of_breaks(int breaks) {
  task::ExecutorState state;
  json::Writer out(state.state.text);
  out.object([&] { out.member("breaks", breaks); });
  return state;
}

// An endpoint, as all turns of its agent use it.
struct AguiServer {
  AgentSettings settings;
  outbound::Rules rules;
  std::shared_ptr<outbound::Credentials> credentials;  // shared with calls
  LoopServices services;
};

// All of it happens on the loop's thread, but for what `elsewhere` runs.
class AguiTurn : public LoopTurn<AguiTurn> {
 public:
  AguiTurn(std::shared_ptr<const AguiServer> server, Turn turn, std::shared_ptr<TurnSink> sink)
      : LoopTurn(server->services.loop, std::move(turn), std::move(sink)),
        server_(std::move(server)),
        settings_(server_->settings),
        rules_(server_->rules),
        credentials_(server_->credentials->of(input_.subject)),
        deadline_(Clock::now() + settings_.turn_timeout),
        relay_(input_, turn_, rules_.limits.arguments_max),
        intake_(rules_.budget, input_.account),
        breaks_(breaks_in(input_.kept)),
        backoff_(kRunRetryFirst, kRunRetryMax) {
    turn_.hide([credentials = credentials_] { return credentials->mask(); });
  }

  // These may be called from any thread.
  void begin() {
    post([](AguiTurn& turn) { turn.prepare(); });
  }
  void cancel() {
    stop_waiting();
    post_end([](AguiTurn& turn) { turn.end_canceled(); });
  }
  // Ends a wait for memory, because nobody wants the turn any more.
  void stop_waiting() { intake_.stop(); }
  void deliver(DelegateResult) {}  // it has no children

 private:
  using Came = outbound::Posted::Kind;
  friend LoopTurn<AguiTurn>;

  void break_down(const std::string& why) {
    base::log_error(log_members(), "the turn of an AG-UI endpoint failed: {}", why);
    finish(Failed{"the agent failed"});
  }

  void prepare() {
    elsewhere(
        server_->services.blocking,
        [](AguiTurn& turn) {
          turn.has_secret_ = !turn.credentials_->missing();
          turn.write_run();
        },
        [](AguiTurn& turn) { turn.begin_run(); });
  }

  void begin_run() {
    if (!has_secret_) return fail("the credentials for the remote agent are missing");
    if (is_about_resending(input_) && !says_resend(input_))
      return fail("the remote agent may or may not have received the message, and it was not resent");
    if (body_.empty()) return fail("the message to resend is no longer stored");
    may_have_sent_ = input_.attempt > 1 || breaks_ > 0;
    if (input_.attempt > 1 && settings_.on_unknown() != Endpoint::OnUnknown::resend) return not_known();
    ask();
  }

  // A conversation may be long, so it is written anew for each try.
  void write_run() {
    auto run = run_input(input_);
    if (!run) return;
    run->newer = !settings_.endpoint.older_agui;
    body_ = protocol::agui::write_input(*run);
  }

  void ask() {
    reader_ = RunReader(rules_.limits.arguments_max);
    events_.emplace(settings_.line_max);
    waiting_.clear();
    plain_.clear();
    is_stream_ = false;
    bytes_ = 0;
    nonsense_.clear();
    posted_.reset();
    is_paused_ = false;
    span_.emplace(rules_.spans, input_.trace);
    outbound::Post post{.url = settings_.endpoint.url,
                        .body = std::exchange(body_, {}),
                        .accept = "text/event-stream",
                        .time_max = left(),
                        .despite_breaker = despite_breaker_,
                        .trace = span_->trace(),
                        .intake = &intake_};
    call_.emplace(
        outbound::PostCall::Services{loop(), server_->services.blocking}, settings_.endpoint, rules_,
        credentials_, std::move(post),
        [this](std::string_view piece) {
          bool goes_on = false;
          run([&](AguiTurn& turn) { goes_on = turn.take(piece); });
          return goes_on && !is_over_;
        },
        [this](outbound::Posted posted) { run([&](AguiTurn& turn) { turn.take_end(std::move(posted)); }); });
    call_->start();
  }

  // Returns whether to read on.
  bool take(std::string_view piece) {
    bytes_ += piece.size();
    if (bytes_ > settings_.output_max)
      return refuse("the remote agent's answer is larger than its card allows (output_max_bytes)");
    if (!is_stream_ && bytes_ <= kRunDecodedHere) plain_ += piece;
    const auto fed = events_->feed(piece, [this](const protocol::SseEvent& event) {
      is_stream_ = true;
      if (!protocol::is_aside(event)) waiting_.push_back(event);
      return true;
    });
    if (is_stream_) plain_ = {};
    if (!read()) return false;
    if (!fed) return refuse("an event of the remote agent is larger than its card allows (line_max_bytes)");
    if (!is_decoding_) wait_for_room(*this);
    return true;
  }

  // Reads on once the sink has room.
  static void wait_for_room(AguiTurn& turn) {
    if (!turn.has_room(&AguiTurn::wait_for_room)) return turn.pause();
    turn.right_.reset();
    if (std::exchange(turn.is_paused_, false) && turn.call_) turn.call_->resume();
  }

  void pause() {
    is_paused_ = true;
    if (call_) call_->pause();
  }

  // Reads the events that wait, up to a long one, which another thread decodes and tells. Returns false if
  // the answer is refused, or its run has failed.
  bool read() {
    if (is_decoding_) return true;
    for (;;) {
      if (reader_.end() && reader_.end()->kind == RunEnd::Kind::failed) return false;
      if (!reader_.end()) stop_timer();  // another run has begun
      if (waiting_.empty()) break;
      event_ = std::move(waiting_.front());
      waiting_.pop_front();
      if (event_.data.size() > kRunDecodedHere) {
        decode_elsewhere();
        return true;
      }
      decode();
      if (std::string why = tell(); !why.empty()) return refuse(std::move(why));
    }
    intake_.keep(events_->unfinished() + reader_.held() + relay_.held());
    // A ping or another event outside a run does not prolong the wait.
    if (reader_.end() && timer_ == 0) wait_for_another_run();
    return true;
  }

  void wait_for_another_run() {
    timer_ = loop().after(kRunAfterEnd, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->run([](AguiTurn& turn) { turn.wait_no_longer(); });
    });
  }

  void wait_no_longer() {
    timer_ = 0;
    if (is_decoding_) return;
    if (is_paused_) return wait_for_another_run();
    take_end({});
  }

  void decode_elsewhere() {
    is_decoding_ = true;
    pause();
    go_away(
        server_->services.decoding,
        [](AguiTurn& turn) {
          turn.decode();
          turn.refusal_ = turn.tell();
        },
        [](AguiTurn& turn) { turn.take_decoded(); });
  }

  // Blocks until there is memory for the event.
  void decode() {
    right_.reset();
    auto right = client::may_decode(event_.data, &intake_);
    is_memory_short_ = !right;
    if (right) right_.emplace(std::move(*right));
    decoded_ = right ? reader_.take(event_.data) : base::fail(right.error());
  }

  // Tells what was decoded. Returns why the answer is refused; empty: it is not.
  std::string tell() {
    auto pieces = std::exchange(decoded_, {});
    const bool is_passed_over = !pieces && !is_memory_short_ && is_unknown(event_);
    if (event_.data.size() > kRunDecodedHere) event_ = {};
    if (is_passed_over) return {};
    if (!pieces) {
      const bool is_large = is_memory_short_ || pieces.error().code == base::ErrorCode::too_large;
      return (is_large ? "the remote agent's answer was rejected: "
                       : "the remote agent's answer is invalid: ") +
             pieces.error().for_caller;
    }
    for (protocol::agui::RunPiece& piece : *pieces) {
      relay_.tell(std::move(piece));
      if (!relay_.refusal().empty()) return "the remote agent's answer was rejected: " + relay_.refusal();
    }
    return {};
  }

  // Whether the event has a name of its own and is none of AG-UI.
  static bool is_unknown(const protocol::SseEvent& event) {
    if (!protocol::has_own_name(event)) return false;
    const auto document = json::Document::parse_view(event.data);
    return document && !document->root()["type"].is_string();
  }

  void take_decoded() {
    is_decoding_ = false;
    const bool is_refused = !refusal_.empty();
    if (is_refused) refuse(std::exchange(refusal_, {}));
    const bool goes_on = !is_refused && read();
    if (is_over_ || is_decoding_) return;
    if (!goes_on || posted_) return conclude();
    wait_for_room(*this);
  }

  bool refuse(std::string why) {
    nonsense_ = std::move(why);
    return false;
  }

  void take_end(outbound::Posted posted) {
    posted_ = std::move(posted);
    call_.reset();
    if (posted_->kind == Came::answered && events_) collect_last();
    if (is_decoding_) return;
    if (nonsense_.empty() && !reader_.end()) read();
    if (!is_over_ && !is_decoding_) conclude();
  }

  // Some servers leave out the empty line after the last event, which is RUN_FINISHED. An event that is cut
  // off is none.
  void collect_last() {
    events_->feed_end([this](const protocol::SseEvent& event) {
      const bool is_short = event.data.size() <= kRunDecodedHere;
      if (is_short && !protocol::is_aside(event) && json::Document::parse_view(event.data))
        waiting_.push_back(event);
      return true;
    });
    if (is_stream_ || bytes_ > kRunDecodedHere) return;
    // A server that could not begin answers with an error in plain JSON, which counts as one event.
    const auto document = json::Document::parse_view(plain_);
    if (document && document->root()["type"].is_string()) waiting_.push_back({.data = std::move(plain_)});
  }

  // The request is over, and all that came of the answer is read.
  void conclude() {
    if (!posted_) posted_.emplace();  // nothing more is wanted of the server
    stop_timer();
    call_.reset();
    right_.reset();
    intake_.keep(0);
    const outbound::Posted posted = std::move(*posted_);
    end_span(posted.kind != Came::answered ? posted.text : "");
    const bool has_begun = posted.has_begun || posted.kind == Came::answered;
    if (reader_.end()) {
      release();
      return relay_.finish(*reader_.end());
    }
    if (!nonsense_.empty()) return fail(nonsense_);
    switch (posted.kind) {
      case Came::no_token:
        if (posted.may_come) return try_again(posted, posted.text);
        if (posted.asks) return ask_of_caller(*posted.asks);
        return fail("the remote agent cannot be reached: " + posted.text);
      case Came::unreachable:
        return try_again(posted, posted.text);
      case Came::forbidden:
        return fail((posted.has_begun ? "the remote agent's answer was rejected: "
                                      : "the remote agent cannot be reached: ") +
                    posted.text);
      case Came::lost:
        return lose(posted, has_begun, "the connection to the remote agent was lost: " + posted.text);
      case Came::refused:
        return take_refusal(posted);
      case Came::answered:
        break;
    }
    if (!posted.answer.content_type.starts_with("text/event-stream"))
      return fail("the remote agent did not answer with an event stream");
    lose(posted, has_begun, "the remote agent's stream ended before its run did");
  }

  void take_refusal(const outbound::Posted& posted) {
    const std::string why = "the remote agent answered with " +
                            outbound::refusal_text(posted.answer, {.secret = posted.token,
                                                                   .shows_keys = settings_.verbose_errors});
    switch (outbound::outcome_of(posted.answer.status)) {
      case outbound::Outcome::busy:
        return try_again(posted, why);
      case outbound::Outcome::lost:
        // Counts as a run that broke off: a server that is broken ends the turn.
        return lose(posted, true, why);
      default:
        return posted.asks ? ask_of_caller(*posted.asks) : fail(why);
    }
  }

  // The run may be under way there, or over.
  void lose(const outbound::Posted& posted, bool has_begun, const std::string& why) {
    may_have_sent_ = true;
    if (settings_.on_unknown() != Endpoint::OnUnknown::resend) return not_known();
    if (has_begun && ++breaks_ >= kRunBreaksMax) return fail(why);
    try_again(posted, why);
  }

  // Makes the request again after a pause.
  void try_again(const outbound::Posted& posted, const std::string& why) {
    const bool is_there = posted.kind == Came::refused;  // if only to say that it is busy
    if (!give_up_at_) give_up_at_ = Clock::now() + kRunFirstContact;
    const auto last = is_there || may_have_sent_ ? deadline_ : std::min(*give_up_at_, deadline_);
    const auto pause = backoff_.after({posted.retry_after, posted.held}, until_time(last));
    if (!pause) return fail("the remote agent cannot be reached: " + why);
    despite_breaker_ = pause->despite_breaker;
    base::log_warn(log_members(), "retrying the remote agent in {} ms: {}", pause->time.count(), why);
    timer_ = loop().after(pause->time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->run([](AguiTurn& turn) { turn.ask_again(); });
    });
  }

  void ask_again() {
    timer_ = 0;
    if (!relay_.has_told()) {
      return elsewhere(
          server_->services.blocking, [](AguiTurn& turn) { turn.write_run(); },
          [](AguiTurn& turn) { turn.ask(); });
    }
    // BrokenOff withdraws the output that the caller has seen, and the turn runs again.
    turn_.emit(state_of_breaks(breaks_));
    finish(BrokenOff{});
  }

  // Ends the turn when the run may have been made and must not be made twice.
  void not_known() {
    const std::string text = relay_.has_told()
                                 ? "the connection to the remote agent was lost in the middle of its answer"
                                 : "the remote agent may or may not have received the message";
    if (settings_.on_unknown() != Endpoint::OnUnknown::ask) return fail(text);
    task::Message question;
    question.parts.push_back(task::Part::of_text(text + ". Answer \"resend\" to send it again."));
    relay_.close();
    finish(Asked{ask_for_resending(input_), false, std::move(question)});
  }

  void ask_of_caller(const outbound::CallerAsk& what) {
    relay_.close();
    finish(ask_caller(input_, what));
  }

  milliseconds left() const { return std::max(milliseconds(0), until_time(deadline_)); }
  static milliseconds until_time(Clock::time_point time) {
    return std::chrono::duration_cast<milliseconds>(time - Clock::now());
  }

  void fail(const std::string& reason) {
    relay_.close();
    finish(Failed{reason});
  }

  void end_canceled() {
    relay_.close();
    finish(Canceled{});
  }

  // The engine may destroy the execution before this returns.
  void finish(Outcome outcome) {
    release();
    turn_.finish(std::move(outcome));
  }

  void release() {
    is_over_ = true;
    call_.reset();
    stop_timer();
    end_span(outbound::canceled().for_caller);
  }

  void stop_timer() {
    if (timer_ != 0) loop().cancel(std::exchange(timer_, 0));
  }

  void end_span(const std::string& error) {
    if (!span_) return;
    outbound::add_call_span(*span_, {"ag-ui.client", settings_.endpoint.url, error});
    span_.reset();
  }

  const std::shared_ptr<const AguiServer> server_;  // shared with the executor and its other turns
  const AgentSettings& settings_;
  const outbound::Rules& rules_;
  const std::shared_ptr<outbound::Credentials> credentials_;  // shared with other turns of the caller
  const Clock::time_point deadline_;
  RunRelay relay_;
  outbound::Intake intake_;
  int breaks_;
  outbound::Backoff backoff_;
  std::optional<Clock::time_point> give_up_at_;  // on a server that is not there
  bool has_secret_ = false;
  bool may_have_sent_ = false;
  bool despite_breaker_ = false;
  base::EventLoop::TimerId timer_ = 0;  // of the pause before the next request, or after a run's end

  // The request that is being made, or will be.
  std::string body_;
  std::optional<outbound::PostCall> call_;
  std::optional<outbound::Posted> posted_;
  std::optional<base::SpanTimer> span_;
  // Its answer.
  std::string plain_;  // until an event comes, as the answer may turn out to be no stream
  bool is_stream_ = false;
  RunReader reader_;
  std::optional<protocol::SseReader> events_;
  std::deque<protocol::SseEvent> waiting_;
  protocol::SseEvent event_;  // the one that is decoded
  base::Result<std::vector<protocol::agui::RunPiece>> decoded_;
  bool is_memory_short_ = false;                     // `decoded_` says so
  std::optional<outbound::Intake::Decoding> right_;  // to it, until what it says has room
  std::string refusal_;                              // why the telling of the event failed; empty: it did not
  bool is_decoding_ = false;                         // another thread has the reader, the relay and these
  bool is_paused_ = false;                           // `call_` is
  std::uint64_t bytes_ = 0;
  std::string nonsense_;  // why the answer is not valid
};

class AguiExecutor final : public Executor {
 public:
  AguiExecutor(const LoopServices& services, const AgentSettings& settings, const outbound::Rules& rules)
      : refusal_(rules.refusal_of(settings.endpoint.url)),
        server_(std::make_shared<const AguiServer>(AguiServer{
            settings, rules, std::make_shared<outbound::Credentials>(settings.endpoint, rules), services})) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return begin_loop_turn<AguiTurn>(server_, std::move(turn), std::move(sink));
  }

  std::vector<std::string> missing() const override {
    return outbound::missing_outside(!server_->credentials->missing(), "the secret for the remote agent",
                                     refusal_);
  }

 private:
  const std::string refusal_;
  const std::shared_ptr<const AguiServer> server_;  // shared with running turns
};

}  // namespace

std::unique_ptr<Executor> agui_executor(const LoopServices& services, const AgentSettings& settings,
                                        const outbound::Rules& rules) {
  return std::make_unique<AguiExecutor>(services, settings, rules.of(settings.endpoint));
}

}  // namespace baton::agents
