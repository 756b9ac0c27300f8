#include "agents/remote/remote_turn.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "agents/remote/errand.h"
#include "agents/remote/relay.h"
#include "base/id.h"
#include "base/log.h"
#include "client/decode.h"
#include "client/follow.h"
#include "json/document.h"
#include "outbound/backoff.h"

namespace baton::agents {
namespace {

using client::CallError;
using client::Remote;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using OnUnknown = Endpoint::OnUnknown;

// How long a server that was never reached is retried. It is most likely absent; one that restarts comes
// back sooner.
constexpr std::chrono::seconds kFirstContact{30};
constexpr std::chrono::seconds kAnswer{60};    // to a request that does not wait for work
constexpr int kForgottenMax = 5;               // times that the task of a turn may be forgotten
constexpr std::chrono::seconds kOldState{30};  // how long an answered question may still be shown
constexpr milliseconds kPauseFirst{100}, kPauseMax{5'000}, kLater{250};

// The time limit of a turn. It is a little longer than the budget's time, so that the engine is the first
// to end the turn and reports the budget as the reason.
milliseconds time_of(const AgentSettings& settings, const task::Budget& budget) {
  return std::min<milliseconds>(settings.turn_timeout, budget.wall.value_or(settings.turn_timeout) + kLater);
}

class RemoteTurn {
 public:
  RemoteTurn(const RemoteInterfaces& interfaces, const AgentSettings& settings, FunctionTurn& turn)
      : interfaces_(interfaces),
        settings_(settings),
        turn_(turn),
        input_(turn.input()),
        deadline_(Clock::now() + time_of(settings, input_.budget)),
        errand_(input_),
        kept_(read_kept(input_.kept)),
        relay_(turn, input_.artifacts),
        intake_(interfaces.budget(), input_.account, turn.stop_fd()) {}

  void run() {
    if (const auto found = find()) speak(*found);
    if (turn_.dropped()) return give_up_there();
    if (turn_.cancelled()) cancel();
    if (relay_.outcome()) turn_.finish(with_id(*relay_.outcome()));
  }

 private:
  // Finds the interfaces and gives them the turn's trace and intake for every call.
  RemoteInterfaces::Remotes find_traced(bool despite_breaker) {
    auto found = interfaces_.find(turn_.stop_fd(), despite_breaker);
    if (!found) return found;
    for (Remote& remote : *found) {
      remote.access.trace = input_.trace;
      remote.access.intake = &intake_;
    }
    return found;
  }

  // The remote agent's interfaces; empty if the turn is over.
  std::optional<std::vector<Remote>> find() {
    if (!interfaces_.has_secret()) {
      fail("the credentials for the remote agent are missing");
      return std::nullopt;
    }
    // If the task may exist there already, use all of the turn's time.
    const bool is_begun = input_.attempt > 1 || !errand_.answers().empty();
    const auto patience = is_begun ? left() : std::min<milliseconds>(left(), kFirstContact);
    const auto until = Clock::now() + patience;
    outbound::Backoff backoff(kPauseFirst, kPauseMax);
    for (bool despite_breaker = false;;) {
      auto found = find_traced(despite_breaker);
      if (found) return std::move(*found);
      if (turn_.cancelled()) return std::nullopt;
      const CallError& error = found.error();
      // A server that says when to come back is there.
      const bool is_there = !error.held && error.retry_after.count() > 0;
      const auto rest = is_there ? left() : std::chrono::ceil<milliseconds>(until - Clock::now());
      const bool may_come = error.lost || is_begun;
      const auto pause = may_come ? backoff.after({error.retry_after, error.held}, rest) : std::nullopt;
      if (!pause) {
        fail("the remote agent cannot be reached: " + error.text);
        return std::nullopt;
      }
      despite_breaker = pause->despite_breaker;
      if (turn_.wait_cancelled(pause->time)) return std::nullopt;
    }
  }

  void speak(const std::vector<Remote>& remotes) {
    if (errand_.is_about_resending() && !errand_.says_resend()) {
      return fail("the remote agent may or may not have received the message, and it was not resent");
    }
    if (!kept_.task.empty()) {
      const auto same = std::ranges::find_if(remotes, [&](const Remote& remote) {
        return remote.url == kept_.url && protocol::name_of(remote.dialect->version()) == kept_.version;
      });
      const Remote& remote = same == remotes.end() ? remotes.front() : *same;
      if (take_up(remote, kept_.task) == Spoke::to_the_end) return;
    }
    const bool may_have_sent = input_.attempt > 1 && kept_.task.empty();
    while (kept_.times_forgotten < kForgottenMax) {
      const Spoke spoke = send_over_any(remotes, may_have_sent);
      if (spoke == Spoke::to_the_end) return;
      if (spoke == Spoke::no_method) {
        return fail("the remote agent supports no known method to send a message");
      }
    }
    fail("the remote agent repeatedly forgot its tasks");
  }

  // to_the_end: the turn has its outcome, or is to stop. task_is_gone: the remote agent has forgotten the
  // task, as those do that keep tasks in memory, and the message may be sent again. no_method: try the next
  // interface.
  enum class Spoke { to_the_end, task_is_gone, no_method };

  Spoke send_over_any(const std::vector<Remote>& remotes, bool may_have_sent) {
    for (const Remote& remote : remotes) {
      resends_ = may_resend(remote);
      if (may_have_sent && !resends_) {
        not_known();
        return Spoke::to_the_end;
      }
      // If the client chooses the task's id, it can ask for the task first.
      const bool may_be_there = may_have_sent && remote.dialect->names_tasks() && !still_waits(remote);
      const task::TaskId named = errand_.answers().empty() ? errand_.named_task() : errand_.answers();
      if (may_be_there && take_up(remote, named) == Spoke::to_the_end) return Spoke::to_the_end;
      const Spoke spoke = send(remote);
      if (spoke != Spoke::no_method) return spoke;
    }
    return Spoke::no_method;
  }

  bool may_resend(const Remote& remote) const {
    return remote.repeats_safely || remote.dialect->names_tasks() ||
           settings_.on_unknown() == OnUnknown::resend;
  }

  // Whether the task there is known to be still waiting for the answer that this turn brings.
  bool still_waits(const Remote& remote) const {
    if (errand_.answers().empty()) return false;
    const client::RemoteEndpoint endpoint(remote, turn_.stop_fd());
    const auto result = get(endpoint, errand_.answers());
    const auto document = json::Document::view_of(result ? std::string_view(result->text) : "");
    const auto task = endpoint.dialect().read_task(document.root());
    return task && task::is_waiting(task->status.state);
  }

  // Ends the turn when the message may have arrived and must not be sent twice.
  void not_known() {
    constexpr char kText[] = "the remote agent may or may not have received the message";
    if (settings_.on_unknown() != OnUnknown::ask) return fail(kText);
    task::Message question;
    question.parts.push_back(
        task::Part::of_text(std::string(kText) + ". Answer \"resend\" to send it again."));
    turn_.finish(Asked{errand_.id_of_resending(), false, std::move(question)});
  }

  Spoke send(const Remote& remote) {
    auto send = errand_.request(remote);
    if (!send) {
      fail("the message to resend is no longer stored");
      return Spoke::to_the_end;
    }
    const client::RemoteEndpoint endpoint(remote, turn_.stop_fd());
    speaks_ = remote;
    client::FollowEnd end =
        remote.streams ? follow(endpoint, send->submission.task, endpoint.dialect().write_send(*send, true))
                       : send_and_look(endpoint, *send);
    if (remote.streams && refuses_streams(end)) end = send_and_look(endpoint, *send);
    const bool knows_no_method = end.error && end.error->rpc_code == protocol::a2a::kMethodNotFound;
    return knows_no_method && there_.empty() ? Spoke::no_method : conclude(end);
  }

  // Whether the server does not stream although its card says so. Nothing was done there yet.
  bool refuses_streams(const client::FollowEnd& end) const {
    if (!end.error || !there_.empty() || relay_.outcome()) return false;
    const std::int64_t code = end.error->rpc_code;
    const int status = end.error->status;
    const bool is_http = code == 0 && (status == 404 || status == 405 || status == 501);
    return is_http || code == protocol::a2a::kMethodNotFound || code == protocol::a2a::kUnsupportedOperation;
  }

  Spoke take_up(const Remote& remote, const task::TaskId& task) {
    const client::RemoteEndpoint endpoint(remote, turn_.stop_fd());
    speaks_ = remote;
    resends_ = may_resend(remote);
    keep(task);
    return conclude(remote.streams ? follow(endpoint, task, {}) : look(endpoint));
  }

  client::FollowEnd follow(const client::RemoteEndpoint& endpoint, const task::TaskId& task,
                           std::optional<protocol::a2a::ClientRequest> first) {
    const bool answers = !errand_.answers().empty();
    client::FollowPlan plan;
    plan.dialect = &endpoint.dialect();
    plan.task = task;
    // Request all events again, because the output of an earlier attempt was withdrawn with it. But do not
    // replay a question that this turn answers.
    const bool numbers_events = !endpoint.dialect().names_tasks() || speaks_.repeats_safely;
    if (!first && !answers && numbers_events) plan.after = 0;
    plan.first_request = std::move(first);
    plan.may_send_again = true;
    plan.sends_once = !resends_;
    plan.until_waiting = true;
    plan.intake = &intake_;
    plan.answers = answers;
    plan.ends_at_gap = true;
    plan.is_met = true;
    plan.give_up_after = left();
    client::FollowWorld world;
    world.open = [&](client::StreamRequest request, const client::OnStreamEvent& on_event) {
      // An agent may work for a long time before it sends anything.
      if (there_.empty()) request.idle = left();
      return endpoint.stream(request, on_event);
    };
    world.now = [] { return Clock::now(); };
    world.wait = [&](milliseconds time) { return turn_.wait_cancelled(time); };
    world.on_event = [&](std::string_view, protocol::a2a::Update update) { hear(std::move(update)); };
    world.read_task = [&](const task::TaskId& named) { return get(endpoint, named); };
    world.on_trouble = [&](const std::string& what) { log("lost the connection: " + what); };
    world.jitter = [] { return static_cast<double>(base::random_number() % 1'000'000) / 1e6; };
    client::FollowEnd end = client::follow(plan, world);
    if (!end.at_gap) return end;
    keep(end.task);
    return look(endpoint);
  }

  // For an agent without streams: sends, then polls.
  client::FollowEnd send_and_look(const client::RemoteEndpoint& endpoint, protocol::a2a::SendRequest& send) {
    send.waits = false;
    client::FollowPlan plan;
    plan.dialect = &endpoint.dialect();
    plan.first_request = endpoint.dialect().write_send(send, false);
    plan.task = send.submission.task;
    plan.sends_once = !resends_;
    plan.intake = &intake_;
    plan.give_up_after = left();
    client::FollowWorld world;
    // Some agents wait for the work although `waits` is false.
    world.send = [&](const protocol::a2a::ClientRequest& request) { return endpoint.call(request, left()); };
    world.now = [] { return Clock::now(); };
    world.wait = [&](milliseconds time) { return turn_.wait_cancelled(time); };
    world.on_event = [&](std::string_view, protocol::a2a::Update update) {
      if (!errand_.answers().empty()) expect_old_state(update);
      hear(std::move(update));
    };
    client::FollowEnd end = client::send_plain(plan, world);
    if (end.stopped || relay_.outcome()) return end;
    const bool may_be_there = end.error && end.error->lost && endpoint.dialect().names_tasks();
    if (end.error && !may_be_there) return end;
    keep(send.submission.task);
    return look(endpoint);
  }

  client::FollowEnd look(const client::RemoteEndpoint& endpoint) {
    client::FollowEnd end;
    for (milliseconds pause = kPauseFirst; !relay_.outcome(); pause = std::min(pause * 2, kPauseMax)) {
      end.error.reset();
      const auto result = get(endpoint, there_);
      if (result) hear(endpoint, *result);
      if (!result) end.error = result.error();
      if (end.error && client::is_final(*end.error)) return end;
      end.stopped = turn_.wait_cancelled(std::max(pause, end.error ? end.error->retry_after : pause));
      if (end.stopped) return end;
    }
    return end;
  }

  tl::expected<task::Json, CallError> get(const client::RemoteEndpoint& endpoint,
                                          const task::TaskId& task) const {
    return endpoint.call(endpoint.dialect().write_get({task, 0, true, {}, {}}), kAnswer);
  }

  void hear(const client::RemoteEndpoint& endpoint, const task::Json& result) {
    const auto right = client::may_decode(result.text, &intake_);
    if (!right) return fail("the remote agent's answer cannot be read: " + right.error().for_caller);
    auto task = read_task(endpoint, result);
    if (task) return hear(protocol::a2a::Update(std::move(*task)));
    fail("the remote agent's answer is invalid: " + task.error().for_caller);
  }

  static base::Result<task::Task> read_task(const client::RemoteEndpoint& endpoint,
                                            const task::Json& result) {
    const auto document = json::Document::parse_view(result.text);
    return document ? endpoint.dialect().read_task(document->root()) : base::fail(document.error());
  }

  // Some servers take an answer and show the task as it was before.
  void expect_old_state(const protocol::a2a::Update& update) {
    const auto* const task = std::get_if<task::Task>(&update);
    if (task == nullptr || !task::is_waiting(task->status.state)) return;
    old_state_ = task->status;
    old_until_ = Clock::now() + kOldState;
  }

  bool is_old_state(const protocol::a2a::Update& update) const {
    const auto* const task = std::get_if<task::Task>(&update);
    return task != nullptr && old_state_ && Clock::now() < old_until_ && task->status.at == old_state_->at &&
           task->status.state == old_state_->state && task->status.message == old_state_->message;
  }

  void hear(protocol::a2a::Update update) {
    keep(task_in(update));
    if (is_old_state(update)) return intake_.keep(0);
    relay_.tell(update);
    intake_.keep(0);
    if (!relay_.outcome() || !speaks_.has_extension) return;
    if (auto counted = count_usage(kept_, update)) turn_.emit(std::move(*counted));
  }

  // Stores the task's id in the log. Call it before any output of the task there is passed on.
  void keep(const task::TaskId& task) {
    if (!there_.empty() || task.empty()) return;
    there_ = kept_.task = task;
    kept_.url = speaks_.url;
    kept_.version = protocol::name_of(speaks_.dialect->version());
    turn_.emit(state_of(kept_));
  }

  Spoke conclude(const client::FollowEnd& end) {
    if (end.stopped || relay_.outcome()) return Spoke::to_the_end;
    const bool is_gone = end.error && end.error->rpc_code == protocol::a2a::kTaskNotFound && !there_.empty();
    // The answer to a question makes no sense to a new task.
    if (is_gone && resends_ && errand_.answers().empty()) return forget();
    if (end.unknown) {
      not_known();
    } else {
      fail("the remote agent: " + (end.error ? end.error->text : "its stream ended without a result"));
    }
    return Spoke::to_the_end;
  }

  // Begins again without the task there. If its output was passed on, breaks the turn off to withdraw it.
  Spoke forget() {
    there_ = {};
    kept_.task = {};
    ++kept_.times_forgotten;
    if (!relay_.has_told() || kept_.times_forgotten >= kForgottenMax) return Spoke::task_is_gone;
    turn_.emit(state_of(kept_));
    turn_.finish(BrokenOff{});
    return Spoke::to_the_end;
  }

  // The task that is or may be there.
  task::TaskId known_task() const {
    if (!there_.empty()) return there_;
    if (!kept_.task.empty()) return kept_.task;
    const bool may_be_named = speaks_.dialect != nullptr && speaks_.dialect->names_tasks();
    return errand_.answers().empty() && may_be_named ? errand_.named_task() : errand_.answers();
  }

  // Cancels the task there, because the task here was canceled. The turn ends as the task there does, or
  // with a note that the cancel was not confirmed.
  void cancel() {
    const bool may_have_sent = !speaks_.url.empty() || input_.attempt > 1;
    const task::TaskId task = known_task();
    if (relay_.outcome() || task.empty()) return unconfirmed(!relay_.outcome() && may_have_sent);
    turn_.hush();
    if (speaks_.url.empty()) {
      const auto found = find_traced(false);
      if (!found) return unconfirmed(true);
      speaks_ = found->front();
    }
    const client::RemoteEndpoint endpoint(speaks_, turn_.stop_fd());
    const auto until = Clock::now() + settings_.cancel_grace * 4 / 5;
    const auto rest = [&] {
      return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(until - Clock::now()));
    };
    auto result = endpoint.call(endpoint.dialect().write_cancel(task), rest());
    for (milliseconds pause = kPauseFirst; Clock::now() < until; pause = std::min(pause * 2, kPauseMax)) {
      const bool is_unsent = !result && result.error().unsent;
      if (result) hear(endpoint, *result);
      if (relay_.outcome() || turn_.dropped()) break;
      pollfd stop{turn_.stop_fd(), POLLIN, 0};
      ::poll(&stop, 1, static_cast<int>(std::min(pause, rest()).count()));
      result = is_unsent ? endpoint.call(endpoint.dialect().write_cancel(task), rest()) : get(endpoint, task);
    }
    unconfirmed(!relay_.outcome());
  }

  void unconfirmed(bool is_so) {
    if (!is_so) return;
    task::Message note;
    note.parts.push_back(task::Part::of_text("the remote agent has not confirmed the cancel"));
    turn_.emit(task::StatusChanged{{task::State::working, std::move(note), {}}, {}});
  }

  // Called when the turn was dropped. If it took too long, cancels the task there.
  void give_up_there() {
    constexpr milliseconds kNearly{500};  // the engine's clock began a little earlier
    const task::TaskId task = known_task();
    if (Clock::now() + kNearly < deadline_ || task.empty() || speaks_.url.empty() || relay_.outcome()) return;
    const client::RemoteEndpoint endpoint(speaks_);
    (void)endpoint.call(endpoint.dialect().write_cancel(task), kPauseMax);
  }

  // Gives a question an id that names the task there that asked it.
  Outcome with_id(Outcome outcome) const {
    if (auto* asked = std::get_if<Asked>(&outcome)) asked->id = errand_.id_of_question(there_);
    return outcome;
  }

  milliseconds left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  void fail(const std::string& reason) { turn_.finish(Failed{reason}); }

  void log(const std::string& what) const {
    base::log_warn({{"agent", input_.agent.value}, {"task", input_.task.value}}, "{}", what);
  }

  const RemoteInterfaces& interfaces_;
  const AgentSettings& settings_;
  FunctionTurn& turn_;
  const Turn& input_;
  const Clock::time_point deadline_;
  const Errand errand_;
  Kept kept_;  // as the log has it
  Relay relay_;
  outbound::Intake intake_;
  std::optional<task::Status> old_state_;  // in which the task there waited for this turn's answer
  Clock::time_point old_until_{};          // until then that state says nothing new
  bool resends_ = false;                   // a message that may have arrived is sent again
  Remote speaks_;                          // the interface in use; without a URL: none yet
  task::TaskId there_;                     // the task there, once this run knows it
};

}  // namespace

void run_remote_turn(const RemoteInterfaces& interfaces, const AgentSettings& settings, FunctionTurn& turn) {
  turn.hide([credentials = interfaces.credentials()] { return credentials->mask(); });
  RemoteTurn(interfaces, settings, turn).run();
}

}  // namespace baton::agents
