// `send` and `watch`: the commands that follow a stream.
#include <algorithm>
#include <memory>

#include "app/signals.h"
#include "base/id.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/file_saver.h"
#include "client/endpoint.h"
#include "client/follow.h"
#include "client/remote.h"

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

// A little longer than the ten minutes for which a server lets a send wait.
constexpr std::chrono::seconds kPlainSendTimeout{660};
constexpr std::chrono::seconds kGetTimeout{30};
// How long to wait for a server that has only answered that it is busy, and for one that was not there: a
// restart takes a moment, but people do not wait for a dead address.
constexpr std::chrono::seconds kFirstAnswer{5};
constexpr milliseconds kNobodyThere{150};
constexpr std::chrono::seconds kGiveUpAfter{60};
constexpr milliseconds kRetryFirst{100}, kRetryMax{5'000};

// What `send` and `watch` do with a stream, and what they say at its end.
class Session {
 public:
  Session(const ClientOptions& client, const SaveOptions& save, std::optional<int> give_up_after_s)
      : client_(client), console_(client.json) {
    if (give_up_after_s) patience_ = std::chrono::seconds(*give_up_after_s);
    if (!save.folder.empty()) saver_ = std::make_unique<FileSaver>(save.folder, save.force);
  }

  // The agent's interfaces. Empty after an error, which is reported, or Ctrl-C: then `exit_code` is set.
  std::vector<Remote> find(int& exit_code) {
    const std::string url = client::endpoint_url(client_.card_url(), client_.agent);
    const SlowNotice notice("waiting for " + url);
    const auto begun = Clock::now();
    for (milliseconds delay = kRetryFirst;; delay = std::min(delay * 2, kRetryMax)) {
      auto remotes = client::find_remotes(client_, client::Purpose::tasks, interrupt_.fd());
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
      if (delay == kRetryFirst && patience > kNobodyThere)
        console_.error(describe(error, url) + "; trying again");
      if (interrupt_.wait(delay)) return {};
    }
  }

  FollowEnd follow_stream(const Remote& remote, FollowPlan plan) {
    const client::RemoteEndpoint endpoint(remote, interrupt_.fd());
    plan.dialect = &endpoint.dialect();
    // Nothing has answered over gRPC yet: the card, if there is one, came over HTTP.
    plan.is_met = !remote.over_grpc;
    plan.give_up_after = patience_.value_or(kGiveUpAfter);
    return client::follow(plan, world_of(endpoint));
  }

  FollowEnd send_plain(const Remote& remote, const ClientRequest& request, const task::TaskId& task) {
    const client::RemoteEndpoint endpoint(remote, interrupt_.fd());
    FollowPlan plan;
    plan.dialect = &endpoint.dialect();
    plan.task = task;
    plan.first_request = request;
    plan.give_up_after = patience_.value_or(kGiveUpAfter);
    return client::send_plain(plan, world_of(endpoint));
  }

  int report(const FollowEnd& end) {
    if (end.stopped) return report_interrupt(end);
    if (!end.error) return report_state(end.state.value_or(task::State::working), end.task.value);
    console_.error(describe(*end.error, url_));
    if (!end.error->lost || end.task.empty()) return kExitNoAnswer;
    const bool heard = end.state || end.last_number > 0;
    console_.error(heard ? "to go on: " + watch_line(end)
                         : "to see whether it is there: " + command_line(client_, {"get", end.task.value}));
    return kExitNoAnswer;
  }

  Console& console() { return console_; }

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::string_view result, const Update& update) {
    console_.event(result, update);
    if (!saver_) return;
    for (const std::string& line : saver_->take(update)) console_.note(line);
  }

  FollowWorld world_of(const client::RemoteEndpoint& endpoint) {
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
    world.on_trouble = [&](const std::string& what) { console_.error(what + "; trying again"); };
    return world;
  }

  int report_state(task::State state, const std::string& task) {
    console_.end();
    if (task::is_waiting(state)) {
      console_.note("to answer: " + command_line(client_, {"send", "--task", task, "YOUR ANSWER"}));
    }
    if (state == task::State::completed && saver_ && !saver_->all_saved()) return kExitNotSaved;
    return exit_code_for(state);
  }

  int report_interrupt(const FollowEnd& end) {
    console_.end();
    if (!end.task.empty()) {
      console_.note("the task goes on without you");
      console_.note("to watch it:  " + watch_line(end));
      console_.note("to cancel it: " + command_line(client_, {"cancel", end.task.value}));
    }
    return kExitInterrupted;
  }

  std::string watch_line(const FollowEnd& end) const {
    std::vector<std::string> words{"watch", end.task.value};
    if (end.last_number > 0) words.insert(words.end(), {"--from", std::to_string(end.last_number)});
    return command_line(client_, words);
  }

  const ClientOptions& client_;
  std::optional<std::chrono::seconds> patience_;  // as given
  app::Interrupt interrupt_;
  Console console_;
  std::unique_ptr<FileSaver> saver_;
  std::string url_;
};

FollowEnd send_to(Session& session, const Remote& remote, const SendOptions& options,
                  protocol::a2a::SendRequest send) {
  const bool names_task = remote.dialect->names_tasks() && options.task.empty();
  if (names_task) send.submission.task.value = base::make_uuid();
  const task::TaskId& task = send.submission.task;
  const bool streams = remote.streams && !options.no_stream;
  send.waits = true;
  const ClientRequest request = remote.dialect->write_send(send, streams);
  if (!streams) return session.send_plain(remote, request, task);
  if (names_task && session.console().for_people()) {
    session.console().note("task " + task.value);
  }
  FollowPlan plan;
  plan.task = task;
  plan.first_request = request;
  plan.may_send_again = options.task.empty();
  plan.until_waiting = true;
  return session.follow_stream(remote, std::move(plan));
}

}  // namespace

int send_command(SendOptions options) {
  complete_task_id(options.client, options.task);
  const auto message = make_message(options.parts);
  if (!message) {
    Console(options.client.json).error(message.error().for_caller);
    return kExitUsage;
  }
  protocol::a2a::SendRequest send;
  send.submission.task.value = options.task;
  send.submission.context.value = options.context;
  send.submission.message = *message;
  send.submission.message.id.value = base::make_uuid();
  if (!options.push_url.empty()) {
    task::PushConfig& push = send.submission.push.emplace();
    push.url = options.push_url;
    push.token = options.push_token;
  }
  Session session(options.client, options.save, options.give_up_after_s);
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  for (const Remote& remote : remotes) {
    const FollowEnd end = send_to(session, remote, options, send);
    const bool wrong_method = end.error && end.error->rpc_code == protocol::a2a::kMethodNotFound;
    if (!wrong_method || &remote == &remotes.back()) return session.report(end);
  }
  return exit_code;
}

int watch_command(WatchOptions options) {
  complete_task_id(options.client, options.task);
  Session session(options.client, options.save, options.give_up_after_s);
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  if (remotes.empty()) return exit_code;
  FollowPlan plan;
  plan.task.value = options.task;
  plan.after = options.from;
  return session.report(session.follow_stream(remotes.front(), std::move(plan)));
}

}  // namespace baton::cli
