// `replay`: re-runs a turn recorded by a server with the agent's current code.
#include <cstdio>
#include <utility>

#include "app/database.h"
#include "cli/agent_commands.h"
#include "cli/exit_code.h"
#include "cli/local_server.h"
#include "cli/printable.h"
#include "cli/scratch_folder.h"
#include "cli/session.h"

namespace baton::cli {
namespace {

int not_replayed(const base::Error& error, int exit_code) {
  const std::string& why = error.for_log.empty() ? error.for_caller : error.for_log;
  std::fprintf(stderr, "baton: %s\n", printable(why).c_str());
  return exit_code;
}

}  // namespace

int replay_command(const ReplayOptions& options) {
  ClientOptions client;
  client.json = options.json;
  const SaveOptions nowhere;
  Session session(client, nowhere, {});  // catches Ctrl-C, so that the copy of the database is always deleted
  const auto scratch = ScratchFolder::make();
  if (!scratch) return not_replayed(scratch.error(), kExitFailed);
  const std::string copy = scratch->path() / "replay.db";
  const auto turn = app::prepare_replay(options.database, copy, {options.task, options.agent, options.turn});
  if (!turn) return not_replayed(turn.error(), kExitUsage);
  std::fprintf(stderr, "turn %d of %d at %s; its conversation is as Baton has it\n", turn->turn, turn->turns,
               turn->agent.c_str());
  if (session.interrupt().pending()) return kExitInterrupted;
  const auto server = LocalServer::start(options.agents, copy);
  if (!server) return not_replayed(server.error(), kExitFailed);
  (*server)->let_in(client);
  client.agent = turn->agent;
  int exit_code = kExitDone;
  const auto remotes = session.find(exit_code);
  if (remotes.empty()) return exit_code;
  client::FollowPlan plan;
  plan.task.value = turn->task;
  plan.after = turn->message;
  plan.until_waiting = true;
  const client::FollowEnd end = session.follow_stream(remotes.front(), std::move(plan));
  if (end.error) return session.report(end);
  session.console().end();
  return end.stopped ? kExitInterrupted : exit_code_for(end.state.value_or(task::State::working));
}

}  // namespace baton::cli
