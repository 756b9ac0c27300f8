#include "cli/session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/id.h"
#include "cli/answer_form.h"
#include "cli/exit_code.h"

namespace baton::cli {
namespace {

using client::CallError;
using client::FollowEnd;
using client::FollowPlan;
using client::FollowWorld;
using client::Remote;
using protocol::a2a::ClientRequest;
using protocol::a2a::Update;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A little longer than a server's limit for a send that waits, which is ten minutes.
constexpr std::chrono::seconds kPlainSendTimeout{660};
constexpr std::chrono::seconds kGetTimeout{30};
// How long `find` retries a server that answers only with errors.
constexpr std::chrono::seconds kFirstAnswer{5};
// How long `find` retries a server that does not answer at all: enough for a restart, and short enough for
// people who mistyped an address.
constexpr milliseconds kNobodyThere{150};
// How long a request or a stream is repeated when the server stops answering.
constexpr std::chrono::seconds kGiveUpAfter{60};
constexpr milliseconds kRetryFirst{100}, kRetryMax{5'000};

// Talks over the first interface that has the method.
template <class Talk>
FollowEnd over_first(const std::vector<Remote>& remotes, Talk talk) {
  for (const Remote& remote : remotes) {
    FollowEnd end = talk(remote);
    const bool is_other = end.error && client::may_be_of_other_version(*end.error);
    if (!is_other || &remote == &remotes.back()) return end;
  }
  return {};
}

}  // namespace

Session::Session(const ClientOptions& client, const SaveOptions& save, std::optional<int> give_up_after_s)
    : client_(client), console_(client.json) {
  if (give_up_after_s) patience_ = std::chrono::seconds(*give_up_after_s);
  if (!save.folder.empty()) saver_ = std::make_unique<FileSaver>(save.folder, save.force);
}

std::vector<Remote> Session::find(int& exit_code) {
  const std::string url = client::endpoint_url(client_.card_url(), client_.agent);
  const SlowNotice notice("waiting for " + url);
  const auto begun = Clock::now();
  for (milliseconds delay = kRetryFirst;; delay = std::min(delay * 2, kRetryMax)) {
    auto remotes = client::find_remotes(client_, client::Purpose::tasks, interrupt_.fd(), &card_);
    if (remotes) {
      const std::string note = token_note(remotes->front());
      if (!note.empty()) console_.error(note);
      return std::move(*remotes);
    }
    const CallError& error = remotes.error();
    exit_code = kExitInterrupted;
    if (interrupt_.pending()) return {};
    const milliseconds without_answer = patience_ ? milliseconds(*patience_) : kNobodyThere;
    const milliseconds patience = error.status == 0 ? without_answer : patience_.value_or(kFirstAnswer);
    const bool again = error.lost && Clock::now() + delay < begun + patience;
    if (!again) {
      console_.error(describe(error, url));
      exit_code = kExitNoAnswer;
      return {};
    }
    if (delay == kRetryFirst && patience > kNobodyThere) console_.error(describe(error, url) + "; retrying");
    if (interrupt_.wait(delay)) return {};
  }
}

FollowEnd Session::send(const std::vector<Remote>& remotes, const protocol::a2a::SendRequest& send,
                        bool no_stream) {
  return over_first(remotes, [&](const Remote& remote) { return send_to(remote, send, no_stream); });
}

FollowEnd Session::watch_task(const std::vector<Remote>& remotes, const FollowPlan& plan) {
  return over_first(remotes, [&](const Remote& remote) { return follow_stream(remote, plan); });
}

FollowEnd Session::send_to(const Remote& remote, protocol::a2a::SendRequest send, bool no_stream) {
  const bool is_new = send.submission.task.empty();
  const bool names_task = remote.dialect->names_tasks() && is_new;
  if (names_task) send.submission.task.value = base::make_uuid();
  const task::TaskId& task = send.submission.task;
  const bool streams = remote.streams && !no_stream;
  send.waits = true;
  const ClientRequest request = remote.dialect->write_send(send, streams);
  if (!streams) return send_plain(remote, request, task);
  if (names_task && console_.for_people()) console_.print_note("task " + task.value);
  FollowPlan plan;
  plan.task = task;
  plan.first_request = request;
  plan.may_send_again = is_new;
  // In 0.1 the client has chosen the task's id, and reads the task before it sends again.
  plan.sends_once = !remote.repeats_safely && !remote.dialect->names_tasks();
  plan.until_waiting = true;
  return follow_stream(remote, std::move(plan));
}

FollowEnd Session::follow_stream(const Remote& remote, FollowPlan plan) {
  const client::RemoteEndpoint endpoint(remote, interrupt_.fd());
  plan.dialect = &endpoint.dialect();
  // The card, if there is one, came over HTTP, so a gRPC server has not answered yet.
  plan.is_met = !remote.over_grpc;
  plan.give_up_after = patience_.value_or(kGiveUpAfter);
  return client::follow(plan, world_of(endpoint));
}

FollowEnd Session::send_plain(const Remote& remote, const ClientRequest& request, const task::TaskId& task) {
  const client::RemoteEndpoint endpoint(remote, interrupt_.fd());
  FollowPlan plan;
  plan.dialect = &endpoint.dialect();
  plan.task = task;
  plan.first_request = request;
  plan.sends_once = !remote.repeats_safely;
  plan.give_up_after = patience_.value_or(kGiveUpAfter);
  return client::send_plain(plan, world_of(endpoint));
}

int Session::report(const FollowEnd& end) {
  if (end.stopped) return report_interrupt(end);
  if (!end.error) return report_state(end.state.value_or(task::State::working), end.task.value);
  console_.error(describe(*end.error, url_));
  if (!end.error->lost || end.task.empty()) return kExitNoAnswer;
  const bool heard = end.state || end.last_number > 0;
  console_.error(heard ? "to continue: " + watch_line(end)
                       : "to see whether it is there: " + command_line(client_, {"get", end.task.value}));
  return kExitNoAnswer;
}

void Session::show(std::string_view result, const Update& update) {
  const task::ContextId context = std::visit([](const auto& item) { return item.context; }, update);
  if (!context.empty()) context_ = context;
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update))
    status_message_ = status->status.message;
  if (const auto* task = std::get_if<task::Task>(&update)) status_message_ = task->status.message;
  if (watcher_) watcher_(update);
  if (display_) return display_(update);
  console_.event(result, update);
  if (!saver_) return;
  for (const std::string& line : saver_->save(update)) console_.print_note(line);
}

FollowWorld Session::world_of(const client::RemoteEndpoint& endpoint) {
  url_ = endpoint.remote().url;
  FollowWorld world;
  world.open = [&](const client::StreamRequest& request, const client::OnStreamEvent& on_event) {
    return endpoint.stream(request, on_event);
  };
  world.send = [&](const ClientRequest& request) { return endpoint.call(request, kPlainSendTimeout); };
  world.now = [] { return Clock::now(); };
  world.wait = [&](milliseconds time) { return interrupt_.wait(time); };
  world.on_event = [&](std::string_view result, const Update& update) { show(result, update); };
  world.read_task = [&](const task::TaskId& task) {
    return endpoint.call(endpoint.dialect().write_get({task, 0, true, {}, {}}), kGetTimeout);
  };
  world.on_trouble = [&](const std::string& what) { console_.error(what + "; retrying"); };
  return world;
}

int Session::report_state(task::State state, const std::string& task) {
  console_.end();
  if (task::is_waiting(state)) {
    const std::string data = status_message_ ? AnswerForm::example(*status_message_) : std::string();
    std::vector<std::string> words{"send", "--task", task};
    if (data.empty()) words.emplace_back("YOUR ANSWER");
    if (!data.empty()) words.insert(words.end(), {"--data", data});
    console_.print_note("to answer: " + command_line(client_, words));
  }
  if (state == task::State::completed && saver_ && !saver_->all_saved()) return kExitNotSaved;
  return exit_code_for(state);
}

int Session::report_interrupt(const FollowEnd& end) {
  console_.end();
  if (!end.task.empty()) {
    console_.print_note("the task continues in the background");
    console_.print_note("to watch it:  " + watch_line(end));
    console_.print_note("to cancel it: " + command_line(client_, {"cancel", end.task.value}));
  }
  return kExitInterrupted;
}

std::string Session::watch_line(const FollowEnd& end) const {
  std::vector<std::string> words{"watch", end.task.value};
  if (end.last_number > 0) words.insert(words.end(), {"--from", std::to_string(end.last_number)});
  return command_line(client_, words);
}

}  // namespace baton::cli
