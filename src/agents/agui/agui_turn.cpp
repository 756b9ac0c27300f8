#include "agents/agui/agui_turn.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "agents/agui/run_input.h"
#include "agents/agui/run_relay.h"
#include "agents/function_executor.h"
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
using protocol::agui::RunReader;

constexpr milliseconds kRunRetryFirst{200}, kRetryMax{5'000};
// How long a server that was never reached is retried. It is most likely absent; one that restarts comes
// back sooner.
constexpr std::chrono::seconds kRunFirstContact{30};
constexpr int kRunBreaksMax = 5;  // runs of a turn whose stream may break off

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

// How a run's request ended. unsent: it may be sent again. lost: the run may be under way there, or over.
enum class RunSpoke { ended, unsent, lost, refused };

class AguiTurn {
 public:
  AguiTurn(const AgentSettings& settings, const outbound::Rules& rules, outbound::Credentials& credentials,
           FunctionTurn& turn)
      : settings_(settings),
        rules_(rules),
        credentials_(credentials),
        turn_(turn),
        input_(turn.input()),
        deadline_(Clock::now() + settings.turn_timeout),
        relay_(turn, rules.limits.arguments_max),
        intake_(rules.budget, input_.account, turn.stop_fd()),
        breaks_(breaks_in(input_.kept)) {}

  void run() {
    if (credentials_.missing()) return fail("the credentials for the remote agent are missing");
    if (is_about_resending(input_) && !says_resend(input_))
      return fail("the remote agent may or may not have received the message, and it was not resent");
    auto run = run_input(input_);
    if (!run) return fail("the message to resend is no longer stored");
    run->newer = !settings_.endpoint.older_agui;
    post_.url = settings_.endpoint.url;
    post_.body = protocol::agui::write_input(*run);
    post_.accept = "text/event-stream";
    post_.trace = input_.trace;
    post_.stop_fd = turn_.stop_fd();
    post_.intake = &intake_;
    may_have_sent_ = input_.attempt > 1 || breaks_ > 0;
    if (input_.attempt > 1 && settings_.on_unknown() != Endpoint::OnUnknown::resend) return not_known();
    speak();
  }

 private:
  void speak() {
    std::optional<Clock::time_point> until;  // when to give up on a server that is not there
    outbound::Backoff backoff(kRunRetryFirst, kRetryMax);
    while (true) {
      post_.time_max = left();
      const RunSpoke spoke = ask_once();
      if (turn_.cancelled()) return relay_.close();
      if (spoke == RunSpoke::ended) return relay_.finish(*reader_.end());
      if (spoke == RunSpoke::refused) return fail(why_);
      if (spoke == RunSpoke::lost) {
        may_have_sent_ = true;
        if (settings_.on_unknown() != Endpoint::OnUnknown::resend) return not_known();
        if (has_begun_ && ++breaks_ >= kRunBreaksMax) return fail(why_);
      }
      if (!until) until = Clock::now() + kRunFirstContact;
      const auto last = is_there_ || may_have_sent_ ? deadline_ : std::min(*until, deadline_);
      const auto pause = backoff.after({retry_after_, held_}, until_time(last));
      if (!pause) return fail("the remote agent cannot be reached: " + why_);
      post_.despite_breaker = pause->despite_breaker;
      base::log_warn(log_members(), "retrying the remote agent in {} ms: {}", pause->time.count(), why_);
      if (turn_.wait_cancelled(pause->time)) return;
      if (!relay_.has_told()) continue;
      // BrokenOff withdraws the output that the caller has seen, and the turn runs again.
      turn_.emit(state_of_breaks(breaks_));
      return turn_.finish(BrokenOff{});
    }
  }

  RunSpoke ask_once() {
    reader_ = RunReader(rules_.limits.arguments_max);
    events_.emplace(settings_.line_max);
    bytes_ = 0;
    nonsense_.clear();
    base::SpanTimer timer(rules_.spans, input_.trace);
    post_.trace = timer.trace();
    const outbound::Posted posted = outbound::send_post(settings_.endpoint, rules_, credentials_, post_,
                                                        [&](std::string_view piece) { return take(piece); });
    outbound::add_call_span(timer, {"ag-ui.client", post_.url,
                                    posted.kind != outbound::Posted::Kind::answered ? posted.text : ""});
    held_ = posted.held;
    retry_after_ = posted.retry_after;
    is_there_ = posted.kind == outbound::Posted::Kind::refused;
    has_begun_ = posted.has_begun || posted.kind == outbound::Posted::Kind::answered;
    if (reader_.end()) return RunSpoke::ended;
    why_ = nonsense_.empty() ? posted.text : nonsense_;
    if (!nonsense_.empty()) return RunSpoke::refused;
    switch (posted.kind) {
      case outbound::Posted::Kind::no_token:
        if (posted.may_come) return RunSpoke::unsent;
        why_ = "the remote agent cannot be reached: " + why_;
        return RunSpoke::refused;
      case outbound::Posted::Kind::unreachable:
        return RunSpoke::unsent;
      case outbound::Posted::Kind::forbidden:
        why_ = (posted.has_begun ? "the remote agent's answer was rejected: "
                                 : "the remote agent cannot be reached: ") +
               why_;
        return RunSpoke::refused;
      case outbound::Posted::Kind::lost:
        why_ = "the connection to the remote agent was lost: " + why_;
        return RunSpoke::lost;
      case outbound::Posted::Kind::refused:
        return take_refusal(posted);
      case outbound::Posted::Kind::answered:
        break;
    }
    const bool is_stream = posted.answer.content_type.starts_with("text/event-stream");
    why_ = is_stream ? "the remote agent's stream ended before its run did"
                     : "the remote agent did not answer with an event stream";
    return is_stream ? RunSpoke::lost : RunSpoke::refused;
  }

  RunSpoke take_refusal(const outbound::Posted& posted) {
    why_ = "the remote agent answered with " +
           outbound::refusal_text(posted.answer,
                                  {.secret = posted.token, .shows_keys = settings_.verbose_errors});
    switch (outbound::outcome_of(posted.answer.status)) {
      case outbound::Outcome::busy:
        return RunSpoke::unsent;
      case outbound::Outcome::lost:
        has_begun_ = true;  // counts as a run that broke off: a server that is broken ends the turn
        return RunSpoke::lost;
      default:
        return RunSpoke::refused;
    }
  }

  bool take(std::string_view piece) {
    bytes_ += piece.size();
    if (bytes_ > settings_.output_max)
      return refuse("the remote agent's answer is larger than its card allows (output_max_bytes)");
    const auto goes_on =
        events_->feed(piece, [&](const protocol::SseEvent& event) { return take_event(event.data); });
    if (!goes_on)
      return refuse("an event of the remote agent is larger than its card allows (line_max_bytes)");
    intake_.keep(events_->unfinished() + reader_.held() + relay_.held());
    return *goes_on;
  }

  bool take_event(const std::string& data) {
    const auto right = client::may_decode(data, &intake_);
    if (!right) return refuse("the remote agent's answer was rejected: " + right.error().for_caller);
    auto pieces = reader_.take(data);
    if (!pieces) {
      const bool is_large = pieces.error().code == base::ErrorCode::too_large;
      return refuse(
          (is_large ? "the remote agent's answer was rejected: " : "the remote agent's answer is invalid: ") +
          pieces.error().for_caller);
    }
    for (protocol::agui::RunPiece& piece : *pieces) {
      if (turn_.cancelled()) return false;
      relay_.tell(std::move(piece));
      if (!relay_.refusal().empty())
        return refuse("the remote agent's answer was rejected: " + relay_.refusal());
    }
    return !reader_.end() && !turn_.cancelled();
  }

  bool refuse(std::string why) {
    nonsense_ = std::move(why);
    return false;
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
    turn_.finish(Asked{ask_for_resending(input_), false, std::move(question)});
  }

  milliseconds left() const { return std::max(milliseconds(0), until_time(deadline_)); }
  static milliseconds until_time(Clock::time_point time) {
    return std::chrono::duration_cast<milliseconds>(time - Clock::now());
  }

  void fail(const std::string& reason) {
    relay_.close();
    turn_.finish(Failed{reason});
  }

  base::LogMembers log_members() const {
    return {{"agent", input_.agent.value}, {"task", input_.task.value}};
  }

  const AgentSettings& settings_;
  const outbound::Rules& rules_;
  outbound::Credentials& credentials_;
  FunctionTurn& turn_;
  const Turn& input_;
  const Clock::time_point deadline_;
  RunRelay relay_;
  outbound::Intake intake_;
  int breaks_;
  bool may_have_sent_ = false;
  outbound::Post post_;
  // The state of the last request.
  RunReader reader_;
  std::optional<protocol::SseReader> events_;
  std::uint64_t bytes_ = 0;
  std::string nonsense_;  // why the answer is not valid
  std::string why_;       // the request did not end the run
  bool held_ = false;
  bool is_there_ = false;   // the server has answered, if only that it is busy
  bool has_begun_ = false;  // the answer's stream has begun
  milliseconds retry_after_{0};
};

class AguiExecutor final : public Executor {
 public:
  AguiExecutor(base::WorkerPool& pool, const AgentSettings& settings, const outbound::Rules& rules)
      : refusal_(rules.of(settings.endpoint).refusal_of(settings.endpoint.url)),
        credentials_(std::make_shared<outbound::Credentials>(settings.endpoint, rules.of(settings.endpoint))),
        runs_(pool, [settings, rules = rules.of(settings.endpoint),
                     credentials = credentials_](FunctionTurn& turn) {
          turn.hide([credentials] { return credentials->mask(); });
          AguiTurn(settings, rules, *credentials, turn).run();
        }) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return runs_.start(std::move(turn), std::move(sink));
  }

  std::vector<std::string> missing() const override {
    return outbound::missing_outside(!credentials_->missing(), "the secret for the remote agent", refusal_);
  }

 private:
  const std::string refusal_;
  const std::shared_ptr<outbound::Credentials> credentials_;  // shared with running turns
  FunctionExecutor runs_;
};

}  // namespace

std::unique_ptr<Executor> agui_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                        const outbound::Rules& rules) {
  return std::make_unique<AguiExecutor>(pool, settings, rules);
}

}  // namespace baton::agents
