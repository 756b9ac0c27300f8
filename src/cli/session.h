// Session: a command's conversation with an agent: finds it, sends, follows its streams over lost connections
// and shows what comes.
//
// Threads: one; it takes Ctrl-C (app::Interrupt).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/signals.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/file_saver.h"
#include "client/endpoint.h"
#include "client/follow.h"
#include "client/remote.h"

namespace baton::cli {

class Session {
 public:
  // The options outlive it.
  Session(const ClientOptions& client, const SaveOptions& save, std::optional<int> give_up_after_s);

  // The agent's interfaces, the best first. Empty after an error, which is reported, or Ctrl-C: then
  // `exit_code` is set.
  std::vector<client::Remote> find(int& exit_code);

  // Sends over the first interface that takes it, and follows until the task ends or waits for its caller.
  client::FollowEnd send(const std::vector<client::Remote>& remotes, const protocol::a2a::SendRequest& send,
                         bool no_stream = false);
  client::FollowEnd follow_stream(const client::Remote& remote, client::FollowPlan plan);

  // From now on `watcher` is told what comes, and nothing is shown.
  using Watcher = std::function<void(const protocol::a2a::Update&)>;
  void watch_instead(Watcher watcher) { watcher_ = std::move(watcher); }

  // From now on `watcher` is told what comes, before it is shown.
  void watch_too(Watcher watcher) { companion_ = std::move(watcher); }

  // Says how it has ended, and how to go on. Returns the exit code.
  int report(const client::FollowEnd& end);

  // The message of the status that was heard of last, if it had one: of a task that waits, its question.
  const std::optional<task::Message>& said() const { return said_; }
  // The context that was heard of last; empty: none.
  const task::ContextId& context() const { return context_; }
  app::Interrupt& interrupt() { return interrupt_; }
  Console& console() { return console_; }

 private:
  client::FollowEnd send_to(const client::Remote& remote, protocol::a2a::SendRequest send, bool no_stream);
  client::FollowEnd send_plain(const client::Remote& remote, const protocol::a2a::ClientRequest& request,
                               const task::TaskId& task);
  client::FollowWorld world_of(const client::RemoteEndpoint& endpoint);
  void show(std::string_view result, const protocol::a2a::Update& update);
  int report_state(task::State state, const std::string& task);
  int report_interrupt(const client::FollowEnd& end);
  std::string watch_line(const client::FollowEnd& end) const;

  const ClientOptions& client_;
  std::optional<std::chrono::seconds> patience_;  // as given
  app::Interrupt interrupt_;
  Console console_;
  std::unique_ptr<FileSaver> saver_;
  std::string url_;
  task::ContextId context_;
  std::optional<task::Message> said_;
  Watcher watcher_, companion_;
};

}  // namespace baton::cli
