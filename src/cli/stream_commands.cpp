// `send` and `watch`: the commands that follow a stream.
#include <memory>

#include "base/id.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/endpoint.h"
#include "cli/exit_code.h"
#include "cli/file_saver.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::v0_1_client::Update;

// A little more than the ten minutes that a server lets a send wait.
constexpr seconds kPlainSendTimeout{660};

// What `send` and `watch` do with a stream, and what they say at its end.
class Session {
 public:
  Session(const ClientOptions& client, const SaveOptions& save, std::string task)
      : client_(client),
        task_(std::move(task)),
        console_(client.json),
        endpoint_(endpoint_url(client.url, client.agent), client.token, interrupt_.fd()) {
    if (!save.folder.empty()) saver_ = std::make_unique<FileSaver>(save.folder, save.force);
  }

  int follow_stream(const FollowPlan& plan) {
    FollowWorld world;
    world.open = [&](const StreamRequest& request, const OnStreamEvent& on_event) {
      return endpoint_.stream(request, on_event);
    };
    world.now = [] { return std::chrono::steady_clock::now(); };
    world.wait = [&](milliseconds time) { return interrupt_.wait(time); };
    world.on_event = [&](std::string_view result, const Update& update) { show(result, update); };
    world.on_trouble = [&](const std::string& what) {
      console_.error(printable_line(what) + "; trying again");
    };
    return report(follow(plan, world));
  }

  int send_plain(const std::string& body) {
    const auto result = endpoint_.call(body, kPlainSendTimeout);
    if (interrupt_.pending()) return report_interrupt(0);
    if (!result) {
      report_error(result.error());
      if (result.error().lost)
        console_.error("to see whether it arrived: " + command_line(client_, {"get", task_}));
      return kExitNoAnswer;
    }
    const auto document = wire::Document::parse_view(result->text);
    const auto task =
        document ? wire::v0_1_client::read_task(document->root()) : base::fail(document.error());
    if (!task) {
      console_.error("the server's answer makes no sense: " + printable_line(task.error().for_caller));
      return kExitNoAnswer;
    }
    show(result->text, *task);
    return report_state(task->status.state);
  }

  Console& console() { return console_; }

 private:
  void show(std::string_view result, const Update& update) {
    console_.event(result, update);
    if (!saver_) return;
    for (const std::string& line : saver_->take(update)) console_.note(printable_line(line));
  }

  int report(const FollowEnd& end) {
    if (end.stopped) return report_interrupt(end.last_number);
    if (!end.error) return report_state(end.state.value_or(task::State::working));
    report_error(*end.error);
    if (!end.error->lost) return kExitNoAnswer;
    const bool heard = end.state || end.last_number > 0;
    console_.error(heard ? "to go on: " + watch_line(end.last_number)
                         : "to see whether it is there: " + command_line(client_, {"get", task_}));
    return kExitNoAnswer;
  }

  int report_state(task::State state) {
    console_.end();
    if (task::is_waiting(state)) {
      console_.note("to answer: " + command_line(client_, {"send", "--task", task_, "YOUR ANSWER"}));
    }
    if (state == task::State::completed && saver_ && !saver_->all_saved()) return kExitNotSaved;
    return exit_code_for(state);
  }

  int report_interrupt(std::int64_t last_number) {
    console_.end();
    console_.note("the task goes on without you");
    console_.note("to watch it:  " + watch_line(last_number));
    console_.note("to cancel it: " + command_line(client_, {"cancel", task_}));
    return kExitInterrupted;
  }

  void report_error(const CallError& error) {
    std::string text = printable_line(error.text);
    if (error.rpc_code != 0) text += " (error " + std::to_string(error.rpc_code) + ")";
    if (error.lost) text = printable_line(endpoint_.url()) + ": " + text;
    console_.error(text);
  }

  std::string watch_line(std::int64_t last_number) const {
    std::vector<std::string> words{"watch", task_};
    if (last_number > 0) words.insert(words.end(), {"--from", std::to_string(last_number)});
    return command_line(client_, words);
  }

  const ClientOptions& client_;
  const std::string task_;
  Interrupt interrupt_;
  Console console_;
  Endpoint endpoint_;
  std::unique_ptr<FileSaver> saver_;
};

}  // namespace

int send_command(const SendOptions& options) {
  const auto message = make_message(options.parts);
  if (!message) {
    Console(options.client.json).error(printable_line(message.error().for_caller));
    return kExitUsage;
  }
  wire::v0_1_client::SendParams params;
  params.task.value = options.task.empty() ? base::make_uuid() : options.task;
  params.session.value = options.session;
  params.message = *message;
  Session session(options.client, options.save, params.task.value);
  if (options.no_stream) return session.send_plain(wire::v0_1_client::write_send("tasks/send", 1, params));
  if (session.console().for_people()) session.console().note("task " + printable_line(params.task.value));
  FollowPlan plan;
  plan.task = params.task;
  plan.first_request = wire::v0_1_client::write_send("tasks/sendSubscribe", 1, params);
  plan.may_send_again = options.task.empty();
  plan.until_waiting = true;
  plan.give_up_after = seconds(options.give_up_after_s);
  return session.follow_stream(plan);
}

int watch_command(const WatchOptions& options) {
  Session session(options.client, options.save, options.task);
  FollowPlan plan;
  plan.task.value = options.task;
  plan.after = options.from;
  plan.give_up_after = seconds(options.give_up_after_s);
  return session.follow_stream(plan);
}

}  // namespace baton::cli
