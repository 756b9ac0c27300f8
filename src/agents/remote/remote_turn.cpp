#include "agents/remote/remote_turn.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "agents/caller_ask.h"
#include "agents/remote/errand.h"
#include "agents/remote/relay.h"
#include "base/id.h"
#include "base/log.h"
#include "client/follow.h"
#include "client/remote_call.h"
#include "json/document.h"
#include "outbound/backoff.h"

namespace baton::agents {
namespace {

using client::CallError;
using client::FollowEnd;
using client::FollowStep;
using client::Remote;
using client::RemoteCall;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using OnUnknown = Endpoint::OnUnknown;

// How long a server that was never reached is retried. It is most likely absent; one that restarts comes
// back sooner.
constexpr std::chrono::seconds kFirstContact{30};
constexpr std::chrono::seconds kAnswer{60};      // to a request that does not wait for work
constexpr std::size_t kUnusedMax = 1 << 20;      // bytes of an answer that nobody waits for
constexpr std::size_t kSmallMessage = 64 << 10;  // bytes of a message that the loop's thread writes
constexpr int kForgottenMax = 5;                 // times that the task of a turn may be forgotten
constexpr std::chrono::seconds kOldState{30};    // how long an answered question may still be shown
// How long a stream may be silent after a message in place of a task before the answer counts as complete. By
// A2A the stream ends then; but some servers keep it open, and some send more messages. Those that do send
// them as a model's words come, so a single message is soon known to be all; tools make longer pauses.
constexpr std::chrono::seconds kAfterMessage{15}, kAfterMessages{60};
constexpr milliseconds kPauseFirst{100}, kPauseMax{5'000}, kLater{250};

// The time limit of a turn. It is a little longer than the budget's time, so that the engine is the first
// to end the turn and reports the budget as the reason.
milliseconds time_of(const AgentSettings& settings, const task::Budget& budget) {
  return std::min<milliseconds>(settings.turn_timeout, budget.wall.value_or(settings.turn_timeout) + kLater);
}

// A conversation about one task, with the updates that are not passed on yet. One thread at a time uses it:
// the loop's, or one that decodes, which may do so after the turn's end.
struct Conversation {
  std::optional<client::Follower> follower;  // one of these
  std::optional<client::PlainSend> sending;
  FollowStep step;  // the next one, after another thread has decoded
  std::deque<protocol::a2a::Update> heard;
};

// The answer to a request about a task.
struct Got {
  std::optional<CallError> error;
  base::Result<task::Task> task;  // without an error
};

// A message as a request, and the task that it names.
struct Written {
  task::TaskId task;
  protocol::a2a::ClientRequest request;
};

class RemoteTurn : public LoopTurn<RemoteTurn> {
 public:
  RemoteTurn(const RemoteServices& services, std::shared_ptr<const RemoteInterfaces> interfaces,
             std::shared_ptr<const AgentSettings> settings, Turn turn, std::shared_ptr<TurnSink> sink)
      : LoopTurn(services.turns.loop, std::move(turn), std::move(sink)),
        services_(services),
        interfaces_(std::move(interfaces)),
        settings_(std::move(settings)),
        credentials_(interfaces_->credentials()->of(input_.subject)),
        deadline_(Clock::now() + time_of(*settings_, input_.budget)),
        errand_(input_),
        kept_(read_kept(input_.kept)),
        relay_(turn_, input_.artifacts),
        card_backoff_(kPauseFirst, kPauseMax) {
    turn_.hide([credentials = credentials_] { return credentials->mask(); });
  }

  // These may be called from any thread.
  void begin() {
    post([](RemoteTurn& turn) { turn.prepare(); });
  }
  void cancel() {
    post_when_back([](RemoteTurn& turn) { turn.begin_cancel(); });
  }
  void deliver(DelegateResult) {}  // it has no children

 private:
  friend LoopTurn<RemoteTurn>;
  using Next = std::function<void(RemoteTurn&)>;

  void break_down(const std::string& why) {
    base::log_error(log_members(), "the turn of a remote agent failed: {}", why);
    finish(Failed{"the agent failed"});
  }

  void prepare() {
    if (!interfaces_->reads_file()) return begin_finding(interfaces_->has_secret());
    elsewhere(
        services_.turns.blocking, [](RemoteTurn& turn) { turn.has_secret_ = turn.interfaces_->has_secret(); },
        [](RemoteTurn& turn) {
          if (!turn.is_canceled_) turn.begin_finding(turn.has_secret_);
        });
  }

  void begin_finding(bool has_secret) {
    if (!has_secret) return fail("the credentials for the remote agent are missing");
    // If the task may exist there already, use all of the turn's time.
    is_begun_ = input_.attempt > 1 || !errand_.answers().empty();
    card_until_ = Clock::now() + (is_begun_ ? left() : std::min<milliseconds>(left(), kFirstContact));
    find(false);
  }

  // Finds the remote agent's interfaces.
  void find(bool despite_breaker) {
    with_interfaces(despite_breaker, [](RemoteTurn& turn, const RemoteInterfaces::Remotes& found) {
      if (!found) return turn.find_again(found.error());
      turn.remotes_ = *found;
      turn.speak();
    });
  }

  using OnInterfaces = void (*)(RemoteTurn&, const RemoteInterfaces::Remotes&);
  void with_interfaces(bool despite_breaker, OnInterfaces then) {
    if (auto known = interfaces_->at_hand()) return then(*this, for_caller(std::move(*known)));
    card_ =
        interfaces_->fetch(calls(), despite_breaker, [this, then](const RemoteInterfaces::Remotes& found) {
          run([&](RemoteTurn& turn) {
            turn.card_.reset();
            then(turn, turn.for_caller(found));
          });
        });
  }

  // The interfaces with the credentials of this turn's caller.
  RemoteInterfaces::Remotes for_caller(RemoteInterfaces::Remotes found) const {
    if (found && credentials_ != interfaces_->credentials())
      RemoteInterfaces::authenticate(*found, credentials_);
    return found;
  }

  void find_again(const CallError& error) {
    // A server that says when to come back is there.
    const bool is_there = !error.held && error.retry_after.count() > 0;
    const auto rest = is_there ? left() : std::chrono::ceil<milliseconds>(card_until_ - Clock::now());
    const bool may_come = error.lost || is_begun_;
    const auto pause = may_come ? card_backoff_.after({error.retry_after, error.held}, rest) : std::nullopt;
    if (!pause) return fail("the remote agent cannot be reached: " + error.text);
    later(pause->time,
          [despite_breaker = pause->despite_breaker](RemoteTurn& turn) { turn.find(despite_breaker); });
  }

  void speak() {
    if (errand_.is_about_resending() && !errand_.says_resend()) {
      return fail("the remote agent may or may not have received the message, and it was not resent");
    }
    if (kept_.task.empty()) return begin_sending();
    const auto same = std::ranges::find_if(remotes_, [&](const Remote& remote) {
      return remote.url == kept_.url && protocol::name_of(remote.dialect->version()) == kept_.version;
    });
    take_up(same == remotes_.end() ? remotes_.front() : *same, kept_.task, &RemoteTurn::begin_sending);
  }

  void begin_sending() {
    may_have_sent_ = input_.attempt > 1 && kept_.task.empty();
    send_over_any();
  }

  // Sends over the first interface that has the method.
  void send_over_any() {
    if (kept_.times_forgotten >= kForgottenMax) return fail("the remote agent repeatedly forgot its tasks");
    interface_ = 0;
    try_interface();
  }

  void try_interface() {
    if (interface_ == remotes_.size())
      return fail("the remote agent supports no known method to send a message");
    const Remote& remote = remotes_[interface_];
    resends_ = may_resend(remote);
    if (may_have_sent_ && !resends_) return not_known();
    // If the client chooses the task's id, it can ask for the task first.
    if (!may_have_sent_ || !remote.dialect->names_tasks()) return send();
    if (errand_.answers().empty()) return take_up(remote, errand_.named_task(), &RemoteTurn::send);
    // The task there may be still waiting for the answer that this turn brings.
    get(remote, errand_.answers(), false, [](RemoteTurn& turn, const Got& got) {
      if (!got.error && got.task && task::is_waiting(got.task->status.state)) return turn.send();
      turn.take_up(turn.remotes_[turn.interface_], turn.errand_.answers(), &RemoteTurn::send);
    });
  }

  bool may_resend(const Remote& remote) const {
    return remote.repeats_safely || remote.dialect->names_tasks() ||
           settings_->on_unknown() == OnUnknown::resend;
  }

  // Ends the turn when the message may have arrived and must not be sent twice.
  void not_known() {
    constexpr char kText[] = "the remote agent may or may not have received the message";
    if (settings_->on_unknown() != OnUnknown::ask) return fail(kText);
    task::Message question;
    question.parts.push_back(
        task::Part::of_text(std::string(kText) + ". Answer \"resend\" to send it again."));
    finish(Asked{errand_.id_of_resending(), false, std::move(question)});
  }

  void send() {
    const Remote& remote = remotes_[interface_];
    write(remote, remote.streams, &RemoteTurn::send_written);
  }

  void send_written() {
    speaks_ = remotes_[interface_];
    is_sending_ = true;
    when_gone_ = &RemoteTurn::send_over_any;
    if (!speaks_.streams) return send_and_look();
    may_be_refused_ = true;
    follow(written_->task, std::move(written_->request));
  }

  // Writes the message for this interface, a large one on another thread, and then calls `then`.
  void write(const Remote& remote, bool streams, void (RemoteTurn::*then)()) {
    const auto next = [then](RemoteTurn& turn) {
      if (turn.is_canceled_) return;
      if (!turn.written_) return turn.fail("the message to resend is no longer stored");
      (turn.*then)();
    };
    const bool is_small = !errand_.is_about_resending() && task::weight_of(input_.message) <= kSmallMessage;
    if (is_small) {
      written_ = written(remote, streams);
      return next(*this);
    }
    elsewhere(
        services_.turns.blocking,
        [remote, streams](RemoteTurn& turn) { turn.written_ = turn.written(remote, streams); }, next);
  }

  std::optional<Written> written(const Remote& remote, bool streams) const {
    auto send = errand_.request(remote);
    if (!send) return std::nullopt;
    if (!streams) send->waits = false;
    return Written{send->submission.task, remote.dialect->write_send(*send, streams)};
  }

  // Whether the server does not stream although its card says so. Nothing was done there yet.
  bool refuses_streams(const FollowEnd& end) const {
    if (!end.error || !there_.empty() || relay_.outcome()) return false;
    const std::int64_t code = end.error->rpc_code;
    const int status = end.error->status;
    const bool is_http = code == 0 && (status == 404 || status == 405 || status == 501);
    return is_http || code == protocol::a2a::kMethodNotFound || code == protocol::a2a::kUnsupportedOperation;
  }

  // `when_gone`: what comes next if the remote agent has forgotten the task, as those do that keep tasks in
  // memory, and the message may be sent again.
  void take_up(const Remote& remote, const task::TaskId& task, void (RemoteTurn::*when_gone)()) {
    speaks_ = remote;
    is_sending_ = false;
    when_gone_ = when_gone;
    resends_ = may_resend(remote);
    keep(task);
    if (!remote.streams) return look();
    follow(task, {});
  }

  // ---- Conversations

  client::FollowPlan plan_of(const task::TaskId& task,
                             std::optional<protocol::a2a::ClientRequest> first) const {
    client::FollowPlan plan;
    plan.dialect = speaks_.dialect.get();
    plan.task = task;
    plan.first_request = std::move(first);
    plan.sends_once = !resends_;
    plan.give_up_after = left();
    return plan;
  }

  // `heard`: the conversation's; it must outlive the result.
  client::FollowHooks hooks_for(std::deque<protocol::a2a::Update>& heard) const {
    client::FollowHooks hooks;
    hooks.now = [] { return Clock::now(); };
    hooks.on_event = [&heard](std::string_view, protocol::a2a::Update update) {
      heard.push_back(std::move(update));
    };
    hooks.on_trouble = [members = log_members()](const std::string& what) {
      base::log_warn(members, "lost the connection: {}", what);
    };
    hooks.jitter = [] { return static_cast<double>(base::random_number() % 1'000'000) / 1e6; };
    return hooks;
  }

  void follow(const task::TaskId& task, std::optional<protocol::a2a::ClientRequest> first) {
    const bool answers = !errand_.answers().empty();
    // Request all events again, because the output of an earlier attempt was withdrawn with it. But do not
    // replay a question that this turn answers.
    const bool numbers_events = !speaks_.dialect->names_tasks() || speaks_.repeats_safely;
    const bool begins_anew = !first && !answers && numbers_events;
    client::FollowPlan plan = plan_of(task, std::move(first));
    if (begins_anew) plan.after = 0;
    plan.may_send_again = true;
    plan.has_other_way = may_be_refused_;
    plan.until_waiting = true;
    plan.answers = answers;
    plan.ends_at_gap = true;
    plan.is_met = true;
    conversation_ = std::make_shared<Conversation>();
    conversation_->follower.emplace(std::move(plan), hooks_for(conversation_->heard), true);
    go_on(conversation_->follower->begin());
  }

  // For an agent without streams: sends, then polls.
  void send_and_look() {
    conversation_ = std::make_shared<Conversation>();
    conversation_->sending.emplace(plan_of(written_->task, {}), hooks_for(conversation_->heard));
    go_on(conversation_->sending->begin());
  }

  // Takes the next step of the conversation.
  void go_on(const FollowStep& step) {
    switch (step.kind) {
      case FollowStep::Kind::open:
        return open(step.request);
      case FollowStep::Kind::send:
        // Some agents wait for the work although `waits` is false.
        return ask(written_->request, left(), [](Conversation& conversation, const auto& result) {
          conversation.step = conversation.sending->answered(result);
        });
      case FollowStep::Kind::read:
        return ask(speaks_.dialect->write_get({step.task, 0, true, {}, {}}), kAnswer,
                   [](Conversation& conversation, const auto& result) {
                     conversation.step = conversation.follower->read(result);
                   });
      case FollowStep::Kind::wait:
        return later(step.time, [](RemoteTurn& turn) {
          Conversation& now = *turn.conversation_;
          turn.go_on(now.follower ? now.follower->waited() : now.sending->waited());
        });
      case FollowStep::Kind::end:
        return end_conversation();
    }
  }

  void open(client::StreamRequest request) {
    // An agent may work for a long time before it sends anything.
    if (there_.empty()) request.idle = left();
    call_.emplace(calls(), speaks_, whom(),
                  RemoteCall::Streaming{std::move(request),
                                        [now = conversation_](std::int64_t number, std::string_view result) {
                                          return now->follower->accept(number, result);
                                        },
                                        [this](const RemoteCall::Right& right) {
                                          bool goes_on = false;
                                          run([&](RemoteTurn& turn) { goes_on = turn.take_heard(right); });
                                          return goes_on && !is_over_;
                                        },
                                        [this](client::StreamEnd end) {
                                          run([&](RemoteTurn& turn) { turn.take_end(std::move(end)); });
                                        }});
    call_->start();
  }

  // Tells what was heard, and lets the other side wait while there is no room for more.
  bool take_heard(const RemoteCall::Right& right) {
    stop_timer();
    if (right) {
      held_ = right;
      call_->pause();
      tell_elsewhere(&RemoteTurn::hear_all, [](RemoteTurn& turn) { resume(turn); });
      return true;
    }
    hear_all();
    if (is_over_) return false;
    if (has_room(&RemoteTurn::resume)) {
      limit_silence();
    } else {
      call_->pause();
    }
    return true;
  }

  static void resume(RemoteTurn& turn) {
    if (!turn.call_ || !turn.has_room(&RemoteTurn::resume)) return;
    turn.held_.reset();
    turn.limit_silence();
    turn.call_->resume();
  }

  // After a message in place of a task. The end comes before the turn's, so that the answer is not lost.
  void limit_silence() {
    if (!relay_.has_messages() || relay_.outcome() || !there_.empty()) return;
    const milliseconds time = relay_.has_one_message() ? kAfterMessage : kAfterMessages;
    later(std::min(time, left() / 2), [](RemoteTurn& turn) {
      turn.end_call();
      turn.conversation_.reset();
      turn.relay_.end_messages();
      turn.conclude({});
    });
  }

  // What took the right to decode also takes long to compare and to mask. Nothing may be under way.
  void tell_elsewhere(void (RemoteTurn::*how)(), Next then) {
    go_away(
        services_.turns.blocking, [how](RemoteTurn& turn) { (turn.*how)(); },
        [then = std::move(then), stops = stops_](RemoteTurn& turn) {
          if (turn.stops_ == stops) then(turn);
        });
  }

  void hear_all() {
    while (!conversation_->heard.empty()) {
      protocol::a2a::Update update = std::move(conversation_->heard.front());
      conversation_->heard.pop_front();
      // The answer to a plain send.
      if (conversation_->sending && !errand_.answers().empty()) expect_old_state(update);
      hear(std::move(update));
    }
  }

  void take_end(client::StreamEnd end) {
    stop_timer();
    end_call();
    if (conversation_->follower->closed(std::move(end))) return end_conversation();
    go_on(conversation_->follower->after_stream());
  }

  // Makes a request of the conversation, whose answer leads to its next step.
  using Read = void (*)(Conversation&, const tl::expected<task::Json, CallError>&);
  void ask(protocol::a2a::ClientRequest request, milliseconds timeout, Read read) {
    call_.emplace(calls(), speaks_, whom(),
                  RemoteCall::Asking{std::move(request), timeout,
                                     [now = conversation_, read](const auto& result) { read(*now, result); },
                                     [this](const RemoteCall::Right& right) {
                                       run([&](RemoteTurn& turn) {
                                         turn.end_call();
                                         turn.tell(right, &RemoteTurn::hear_all, [](RemoteTurn& now) {
                                           now.go_on(now.conversation_->step);
                                         });
                                       });
                                     }});
    call_->start();
  }

  void end_conversation() {
    const bool was_plain = conversation_->sending.has_value();
    const FollowEnd end = was_plain ? conversation_->sending->end() : conversation_->follower->end();
    conversation_.reset();
    if (!end.error) relay_.end_messages();
    if (was_plain) {
      if (relay_.outcome()) return conclude(end);
      const bool may_be_there = end.error && end.error->lost && speaks_.dialect->names_tasks();
      if (end.error && !may_be_there) return conclude(end);
      keep(written_->task);
      return look();
    }
    if (end.at_gap) {
      keep(end.task);
      return look();
    }
    if (std::exchange(may_be_refused_, false) && refuses_streams(end))
      return write(speaks_, false, &RemoteTurn::send_and_look);
    conclude(end);
  }

  // ---- Polls

  void look() {
    pause_ = kPauseFirst;
    look_once();
  }

  void look_once() {
    if (relay_.outcome()) return conclude({});
    get(speaks_, there_, true, [](RemoteTurn& turn, const Got& got) {
      if (got.error && (got.error->asks || client::is_final(*got.error))) {
        FollowEnd end;
        end.error = got.error;
        return turn.conclude(end);
      }
      if (turn.relay_.outcome()) return turn.conclude({});
      turn.later(std::max(turn.pause_, got.error ? got.error->retry_after : turn.pause_),
                 [](RemoteTurn& next) { next.look_once(); });
      turn.pause_ = std::min(turn.pause_ * 2, kPauseMax);
    });
  }

  // Reads a task and calls `then`. `tells`: passes the task's news on before.
  using OnGot = void (*)(RemoteTurn&, const Got&);
  void get(const Remote& remote, const task::TaskId& task, bool tells, OnGot then) {
    request_task(remote, remote.dialect->write_get({task, 0, true, {}, {}}), kAnswer, tells, then);
  }

  void request_task(const Remote& remote, protocol::a2a::ClientRequest request, milliseconds timeout,
                    bool tells, OnGot then) {
    const auto got = std::make_shared<Got>();  // shared with a thread that decodes
    call_.emplace(
        calls(), remote, whom(),
        RemoteCall::Asking{std::move(request), timeout,
                           [got, dialect = remote.dialect](const auto& result) {
                             if (!result) return void(got->error = result.error());
                             const auto document = json::Document::parse_view(result->text);
                             got->task = document ? dialect->read_task(document->root())
                                                  : base::fail(document.error());
                             // Only a limit of ours is final: the task there may still be running.
                             if (got->task || got->task.error().code == base::ErrorCode::too_large) return;
                             got->error = CallError{"its answer is invalid: " + got->task.error().for_caller};
                           },
                           [this, got, tells, then](const RemoteCall::Right& right) {
                             run([&](RemoteTurn& turn) { turn.take_task(got, tells, right, then); });
                           }});
    call_->start();
  }

  void take_task(const std::shared_ptr<Got>& got, bool tells, const RemoteCall::Right& right, OnGot then) {
    end_call();
    const Next next = [got, then](RemoteTurn& turn) { then(turn, *got); };
    if (!tells || got->error) return when_room(right, next);
    if (!got->task) return fail("the remote agent's answer is invalid: " + got->task.error().for_caller);
    got_ = std::move(*got->task);
    tell(right, &RemoteTurn::hear_got, next);
  }

  void hear_got() { hear(protocol::a2a::Update(std::move(got_))); }

  // Calls `how`, on another thread if it takes long, and then `next` once the sink has room.
  void tell(const RemoteCall::Right& right, void (RemoteTurn::*how)(), Next next) {
    if (right) return tell_elsewhere(how, [right, next](RemoteTurn& turn) { turn.when_room(right, next); });
    (this->*how)();
    when_room(right, std::move(next));
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
    if (is_old_state(update)) return;
    relay_.tell(update);
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

  // The conversation and its polls are over.
  void conclude(const FollowEnd& end) {
    may_be_refused_ = false;
    if (relay_.outcome()) return finish_as_there();
    const std::int64_t code = end.error ? end.error->rpc_code : 0;
    const bool is_last = interface_ + 1 >= remotes_.size();
    const bool knows_no_method = code == protocol::a2a::kMethodNotFound ||
                                 (!is_last && end.error && client::may_be_of_other_version(*end.error));
    if (is_sending_ && knows_no_method && there_.empty()) {
      ++interface_;
      return try_interface();
    }
    const bool is_gone = code == protocol::a2a::kTaskNotFound && !there_.empty();
    // The answer to a question makes no sense to a new task.
    if (is_gone && resends_ && errand_.answers().empty()) return forget();
    if (end.error && end.error->asks && may_ask()) return ask_of_caller(*end.error->asks);
    if (end.unknown) return not_known();
    fail("the remote agent: " + (end.error ? end.error->text : "its stream ended without a result"));
  }

  // Whether another turn may do what this one was to do: the task there is known, or the message may be sent
  // again.
  bool may_ask() const { return !kept_.task.empty() || input_.attempt == 1 || resends_; }
  void ask_of_caller(const outbound::CallerAsk& what) {
    finish(ask_caller(input_, what, kept_.task.empty() ? task::Json() : state_of(kept_).state));
  }

  // Begins again without the task there. If its output was passed on, breaks the turn off to withdraw it.
  void forget() {
    there_ = {};
    kept_.task = {};
    ++kept_.times_forgotten;
    if (!relay_.has_told() || kept_.times_forgotten >= kForgottenMax) return (this->*when_gone_)();
    turn_.emit(state_of(kept_));
    finish(BrokenOff{});
  }

  // The task that is or may be there.
  task::TaskId known_task() const {
    if (!there_.empty()) return there_;
    if (!kept_.task.empty()) return kept_.task;
    const bool may_be_named = speaks_.dialect != nullptr && speaks_.dialect->names_tasks();
    return errand_.answers().empty() && may_be_named ? errand_.named_task() : errand_.answers();
  }

  // ---- Cancels

  // Cancels the task there, because the task here was canceled. The turn ends as the task there does, or
  // with a note that the cancel was not confirmed.
  void begin_cancel() {
    if (std::exchange(is_canceled_, true)) return;
    stop();
    const bool may_have_sent = !speaks_.url.empty() || input_.attempt > 1;
    if (relay_.outcome() || known_task().empty()) return end_canceled(may_have_sent);
    if (!speaks_.url.empty()) return cancel_there();
    with_interfaces(false, [](RemoteTurn& turn, const RemoteInterfaces::Remotes& found) {
      if (!found) return turn.end_canceled(true);
      turn.speaks_ = found->front();
      turn.cancel_there();
    });
  }

  void cancel_there() {
    canceled_ = known_task();
    cancel_until_ = Clock::now() + settings_->cancel_grace * 4 / 5;
    pause_ = kPauseFirst;
    send_cancel();
  }

  milliseconds rest() const {
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(cancel_until_ - Clock::now()));
  }

  void send_cancel() {
    request_task(speaks_, speaks_.dialect->write_cancel(canceled_), rest(), true,
                 &RemoteTurn::look_after_cancel);
  }

  static void look_after_cancel(RemoteTurn& turn, const Got& got) {
    if (turn.relay_.outcome() || Clock::now() >= turn.cancel_until_) return turn.end_canceled(true);
    const bool is_unsent = got.error && got.error->unsent;
    turn.later(std::min(turn.pause_, turn.rest()), [is_unsent](RemoteTurn& next) {
      if (Clock::now() >= next.cancel_until_) return next.end_canceled(true);
      if (is_unsent) return next.send_cancel();
      next.get(next.speaks_, next.canceled_, true, &RemoteTurn::look_after_cancel);
    });
    turn.pause_ = std::min(turn.pause_ * 2, kPauseMax);
  }

  void end_canceled(bool may_have_sent) {
    if (relay_.outcome()) return finish_as_there();
    if (may_have_sent) {
      task::Message note;
      note.parts.push_back(task::Part::of_text("the remote agent has not confirmed the cancel"));
      turn_.emit(task::StatusChanged{{task::State::working, std::move(note), {}}, {}});
    }
    finish(Canceled{});
  }

  // ---- The end

  void finish_as_there() {
    Outcome outcome = relay_.end();
    // Gives a question an id that names the task there that asked it.
    if (auto* asked = std::get_if<Asked>(&outcome)) asked->id = errand_.id_of_question(there_);
    finish(std::move(outcome));
  }

  void fail(const std::string& reason) { finish(Failed{reason}); }

  // The engine may destroy the execution before this returns.
  void finish(Outcome outcome) {
    is_over_ = true;
    stop();
    turn_.finish(std::move(outcome));
  }

  // The turn was dropped. If it took too long, cancels the task there.
  void release() {
    constexpr milliseconds kNearly{500};  // the engine's clock began a little earlier
    is_over_ = true;
    stop();
    const task::TaskId task = known_task();
    if (Clock::now() + kNearly < deadline_ || task.empty() || speaks_.url.empty() || relay_.outcome()) return;
    (void)services_.threads.try_submit(
        [remote = speaks_, task] { cancel_blocking(remote, task, kPauseMax); });
  }

  // Ends what is under way.
  void stop() {
    ++stops_;
    end_call();
    card_.reset();
    conversation_.reset();
    stop_timer();
  }

  void stop_timer() { loop().cancel(std::exchange(timer_, 0)); }

  void end_call() {
    call_.reset();
    held_.reset();
  }

  // ---- Tools

  RemoteCall::Services calls() const {
    return {services_.turns.loop, services_.turns.blocking, services_.turns.decoding, services_.threads,
            interfaces_->budget()};
  }
  RemoteCall::For whom() const { return {input_.account, input_.trace}; }

  void later(milliseconds time, Next next) {
    timer_ = loop().after(std::max(time, milliseconds(0)), [weak = weak_from_this(), next = std::move(next)] {
      const auto self = weak.lock();
      if (!self) return;
      self->run([&](RemoteTurn& turn) {
        turn.timer_ = 0;
        next(turn);
      });
    });
  }

  // Goes on when the sink has room, unless the turn is stopped before. Keeps `right` until then.
  void when_room(const RemoteCall::Right& right, Next next) {
    const bool is_now = has_room([right, next, stops = stops_](RemoteTurn& turn) {
      if (turn.stops_ == stops) turn.when_room(right, next);
    });
    if (is_now) next(*this);
  }

  milliseconds left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  const RemoteServices services_;
  const std::shared_ptr<const RemoteInterfaces> interfaces_;  // these two: shared with the executor
  const std::shared_ptr<const AgentSettings> settings_;
  const std::shared_ptr<outbound::Credentials> credentials_;  // shared with other turns of the caller
  const Clock::time_point deadline_;
  const Errand errand_;
  Kept kept_;  // as the log has it
  Relay relay_;
  bool has_secret_ = false;
  bool is_begun_ = false;  // the task may exist there already
  outbound::Backoff card_backoff_;
  Clock::time_point card_until_{};
  std::vector<Remote> remotes_;
  std::size_t interface_ = 0;              // the one of these that is tried
  bool may_have_sent_ = false;             // an earlier attempt may have sent the message
  bool resends_ = false;                   // a message that may have arrived is sent again
  Remote speaks_;                          // the interface in use; without a URL: none yet
  task::TaskId there_;                     // the task there, once this run knows it
  std::optional<task::Status> old_state_;  // in which the task there waited for this turn's answer
  Clock::time_point old_until_{};          // until then that state says nothing new

  // The operation under way.
  std::shared_ptr<RemoteInterfaces::Wait> card_;
  std::shared_ptr<Conversation> conversation_;  // shared with a thread that decodes
  std::optional<RemoteCall> call_;
  RemoteCall::Right held_;  // to output that waits for room in the sink
  task::Task got_;          // hear_got passes it on
  base::EventLoop::TimerId timer_ = 0;
  int stops_ = 0;                // how often what was under way was stopped
  milliseconds pause_{0};        // before the next poll
  bool is_sending_ = false;      // the conversation began with the message
  bool may_be_refused_ = false;  // it is the first one, and a stream
  void (RemoteTurn::*when_gone_)() = &RemoteTurn::send_over_any;
  std::optional<Written> written_;  // the message
  bool is_canceled_ = false;
  task::TaskId canceled_;
  Clock::time_point cancel_until_{};
};

}  // namespace

std::unique_ptr<Execution> start_remote_turn(const RemoteServices& services,
                                             std::shared_ptr<const RemoteInterfaces> interfaces,
                                             std::shared_ptr<const AgentSettings> settings, Turn turn,
                                             std::shared_ptr<TurnSink> sink) {
  return begin_loop_turn<RemoteTurn>(services, std::move(interfaces), std::move(settings), std::move(turn),
                                     std::move(sink));
}

void cancel_blocking(client::Remote remote, const task::TaskId& task, milliseconds at_most, int stop_fd) {
  remote.access.answer_max = kUnusedMax;
  const client::RemoteEndpoint endpoint(std::move(remote), stop_fd);
  (void)endpoint.call(endpoint.dialect().write_cancel(task), at_most);
}

}  // namespace baton::agents
