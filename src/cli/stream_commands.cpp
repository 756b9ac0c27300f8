// `send` and `watch`: the commands that follow a stream.
#include "base/id.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/session.h"

namespace baton::cli {

int send_command(SendOptions options) {
  if (!complete_task_id(options.client, options.task)) return kExitUsage;
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
    if (!options.push_key.empty()) {
      push.schemes = {"HMAC-SHA256"};
      push.credentials = options.push_key;
    }
  }
  Session session(options.client, options.save, options.give_up_after_s);
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  return remotes.empty() ? exit_code : session.report(session.send(remotes, send, options.no_stream));
}

int watch_command(WatchOptions options) {
  if (!complete_task_id(options.client, options.task)) return kExitUsage;
  Session session(options.client, options.save, options.give_up_after_s);
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  if (remotes.empty()) return exit_code;
  client::FollowPlan plan;
  plan.task.value = options.task;
  plan.after = options.from;
  return session.report(session.watch_task(remotes, plan));
}

}  // namespace baton::cli
