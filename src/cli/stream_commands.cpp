// `send` and `watch`: the commands that follow a stream.
#include <algorithm>
#include <memory>

#include "base/id.h"
#include "cli/call_errors.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/endpoint.h"
#include "cli/exit_code.h"
#include "cli/file_saver.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/printable.h"
#include "cli/remote.h"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::a2a::ClientRequest;
using wire::a2a::Update;

// A little more than the ten minutes that a server lets a send wait.
constexpr seconds kPlainSendTimeout{660};
constexpr seconds kGetTimeout{30};
// For a server that has never answered.
constexpr seconds kFirstContact{5};
constexpr milliseconds kDelayFirst{100}, kDelayMax{5'000};

// What `send` and `watch` do with a stream, and what they say at its end.
class Session {
 public:
  Session(const ClientOptions& client, const SaveOptions& save, seconds give_up_after)
      : client_(client), give_up_after_(give_up_after), console_(client.json) {
    if (!save.folder.empty()) saver_ = std::make_unique<FileSaver>(save.folder, save.force);
  }

  // The agent's interfaces; nothing once that has been reported, with `exit_code`.
  std::vector<Remote> find(int& exit_code);

  FollowEnd follow_stream(const Remote& remote, FollowPlan plan);
  FollowEnd send_plain(const Remote& remote, const ClientRequest& request, const task::TaskId& task);

  int report(const FollowEnd& end);
  Console& console() { return console_; }

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::string_view result, const Update& update);
  void take_answer(const Endpoint& endpoint, const task::Json& result, FollowEnd& end);
  int report_state(task::State state, const std::string& task);
  int report_interrupt(const FollowEnd& end);
  std::string watch_line(const FollowEnd& end) const;

  const ClientOptions& client_;
  const seconds give_up_after_;
  Interrupt interrupt_;
  Console console_;
  std::unique_ptr<FileSaver> saver_;
  std::string url_;
};

std::vector<Remote> Session::find(int& exit_code) {
  const auto until = Clock::now() + std::min(kFirstContact, give_up_after_);
  for (milliseconds delay = kDelayFirst;; delay = std::min(delay * 2, kDelayMax)) {
    auto remotes = find_remotes(client_, Purpose::tasks, interrupt_.fd());
    if (remotes) return std::move(*remotes);
    exit_code = kExitInterrupted;
    if (interrupt_.pending()) return {};
    const bool again = remotes.error().lost && Clock::now() + delay < until;
    if (again && !interrupt_.wait(delay)) continue;
    if (again) return {};
    console_.error(describe(remotes.error(), endpoint_url(client_.url, client_.agent)));
    exit_code = kExitNoAnswer;
    return {};
  }
}

FollowEnd Session::follow_stream(const Remote& remote, FollowPlan plan) {
  const Endpoint endpoint(remote, client_.token, interrupt_.fd());
  url_ = remote.url;
  plan.dialect = &endpoint.dialect();
  plan.is_met = true;
  plan.give_up_after = give_up_after_;
  FollowWorld world;
  world.open = [&](const StreamRequest& request, const OnStreamEvent& on_event) {
    return endpoint.stream(request, on_event);
  };
  world.now = [] { return Clock::now(); };
  world.wait = [&](milliseconds time) { return interrupt_.wait(time); };
  world.on_event = [&](std::string_view result, const Update& update) { show(result, update); };
  world.read_task = [&](const task::TaskId& task) {
    return endpoint.call(endpoint.dialect().write_get({task, 0, {}}), kGetTimeout);
  };
  world.on_trouble = [&](const std::string& what) {
    console_.error(printable_line(what) + "; trying again");
  };
  return follow(plan, world);
}

// A message with an id may be sent again when no answer came; the server knows it (0.2 and later).
FollowEnd Session::send_plain(const Remote& remote, const ClientRequest& request, const task::TaskId& task) {
  const Endpoint endpoint(remote, client_.token, interrupt_.fd());
  url_ = remote.url;
  FollowEnd end;
  end.task = task;
  std::optional<Clock::time_point> silent_since;
  for (milliseconds delay = kDelayFirst;; delay = std::min(delay * 2, kDelayMax)) {
    const auto result = endpoint.call(request, kPlainSendTimeout);
    end.stopped = interrupt_.pending();
    if (end.stopped) return end;
    if (result) {
      take_answer(endpoint, *result, end);
      return end;
    }
    if (!silent_since) silent_since = Clock::now();
    end.error = result.error();
    const bool patient = Clock::now() - *silent_since + delay < give_up_after_;
    if (!result.error().lost || endpoint.dialect().names_tasks() || !patient) return end;
    if (delay == kDelayFirst) console_.error(printable_line(result.error().text) + "; trying again");
    end.stopped = interrupt_.wait(delay);
    if (end.stopped) return end;
  }
}

void Session::take_answer(const Endpoint& endpoint, const task::Json& result, FollowEnd& end) {
  const auto document = wire::Document::parse_view(result.text);
  const auto update =
      document ? endpoint.dialect().read_update(document->root()) : base::fail(document.error());
  if (!update) {
    end.error = CallError{"the server's answer makes no sense: " + update.error().for_caller, 0, false};
    return;
  }
  end.error.reset();
  show(result.text, *update);
  end.state = task::State::completed;
  if (const auto* task = std::get_if<task::Task>(&*update)) {
    end.state = task->status.state;
    end.task = task->id;
  }
  // A task of 0.1 with little in it looks like an event.
  if (const auto* status = std::get_if<wire::a2a::StatusUpdate>(&*update)) end.state = status->status.state;
}

void Session::show(std::string_view result, const Update& update) {
  console_.event(result, update);
  if (!saver_) return;
  for (const std::string& line : saver_->take(update)) console_.note(printable_line(line));
}

int Session::report(const FollowEnd& end) {
  if (end.stopped) return report_interrupt(end);
  if (!end.error) return report_state(end.state.value_or(task::State::working), end.task.value);
  console_.error(describe(*end.error, url_));
  if (!end.error->lost || end.task.empty()) return kExitNoAnswer;
  const bool heard = end.state || end.last_number > 0;
  console_.error(heard ? "to go on: " + watch_line(end)
                       : "to see whether it is there: " + command_line(client_, {"get", end.task.value}));
  return kExitNoAnswer;
}

int Session::report_state(task::State state, const std::string& task) {
  console_.end();
  if (task::is_waiting(state)) {
    console_.note("to answer: " + command_line(client_, {"send", "--task", task, "YOUR ANSWER"}));
  }
  if (state == task::State::completed && saver_ && !saver_->all_saved()) return kExitNotSaved;
  return exit_code_for(state);
}

int Session::report_interrupt(const FollowEnd& end) {
  console_.end();
  if (!end.task.empty()) {
    console_.note("the task goes on without you");
    console_.note("to watch it:  " + watch_line(end));
    console_.note("to cancel it: " + command_line(client_, {"cancel", end.task.value}));
  }
  return kExitInterrupted;
}

std::string Session::watch_line(const FollowEnd& end) const {
  std::vector<std::string> words{"watch", end.task.value};
  if (end.last_number > 0) words.insert(words.end(), {"--from", std::to_string(end.last_number)});
  return command_line(client_, words);
}

FollowEnd send_to(Session& session, const Remote& remote, const SendOptions& options,
                  wire::a2a::SendRequest send) {
  const bool names_task = remote.dialect->names_tasks() && options.task.empty();
  if (names_task) send.submission.task.value = base::make_uuid();
  const task::TaskId& task = send.submission.task;
  const bool streams = remote.streams && !options.no_stream;
  send.waits = true;
  const ClientRequest request = remote.dialect->write_send(send, streams);
  if (!streams) return session.send_plain(remote, request, task);
  if (names_task && session.console().for_people()) {
    session.console().note("task " + printable_line(task.value));
  }
  FollowPlan plan;
  plan.task = task;
  plan.first_request = request;
  plan.may_send_again = options.task.empty();
  plan.until_waiting = true;
  return session.follow_stream(remote, std::move(plan));
}

}  // namespace

int send_command(const SendOptions& options) {
  const auto message = make_message(options.parts);
  if (!message) {
    Console(options.client.json).error(printable_line(message.error().for_caller));
    return kExitUsage;
  }
  wire::a2a::SendRequest send;
  send.submission.task.value = options.task;
  send.submission.context.value = options.context;
  send.submission.message = *message;
  send.submission.message.id.value = base::make_uuid();
  Session session(options.client, options.save, seconds(options.give_up_after_s));
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  for (const Remote& remote : remotes) {
    const FollowEnd end = send_to(session, remote, options, send);
    const bool wrong_method = end.error && end.error->rpc_code == wire::a2a::kMethodNotFound;
    if (!wrong_method || &remote == &remotes.back()) return session.report(end);
  }
  return exit_code;
}

int watch_command(const WatchOptions& options) {
  Session session(options.client, options.save, seconds(options.give_up_after_s));
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  if (remotes.empty()) return exit_code;
  FollowPlan plan;
  plan.task.value = options.task;
  plan.after = options.from;
  return session.report(session.follow_stream(remotes.front(), std::move(plan)));
}

}  // namespace baton::cli
