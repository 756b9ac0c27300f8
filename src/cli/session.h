// Session: a command's conversation with an agent. It finds the agent, sends messages, follows streams across
// lost connections and shows their events.
//
// Threads: one. Catches Ctrl-C (app::Interrupt).
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
  // The options must outlive the session.
  Session(const ClientOptions& client, const SaveOptions& save, std::optional<int> give_up_after_s);

  // The text of the card that `find` has read; empty if `find` needed no card.
  std::string_view card() const { return card_ ? std::string_view(card_->text) : std::string_view(); }

  // Returns the agent's interfaces, the best first. Empty after Ctrl-C or an error, which has been printed;
  // then `exit_code` is set.
  std::vector<client::Remote> find(int& exit_code);

  // Sends over the first interface that has the method, and follows until the task ends or waits for its
  // caller. `watch_task` subscribes in the same way, and follows until the task ends.
  client::FollowEnd send(const std::vector<client::Remote>& remotes, const protocol::a2a::SendRequest& send,
                         bool no_stream = false);
  client::FollowEnd watch_task(const std::vector<client::Remote>& remotes, const client::FollowPlan& plan);
  client::FollowEnd follow_stream(const client::Remote& remote, client::FollowPlan plan);

  // Passes later updates to `watcher` instead of showing them.
  using Watcher = std::function<void(const protocol::a2a::Update&)>;
  void replace_display(Watcher watcher) { display_ = std::move(watcher); }

  // Passes later updates to `watcher` before they are shown.
  void watch(Watcher watcher) { watcher_ = std::move(watcher); }

  // Prints how the conversation ended and which command continues it. Returns the exit code.
  int report(const client::FollowEnd& end);

  // The message of the latest status, if it had one. For a waiting task this is its question.
  const std::optional<task::Message>& status_message() const { return status_message_; }
  // The latest known context; empty: none yet.
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
  std::optional<std::chrono::seconds> patience_;  // give_up_after_s
  app::Interrupt interrupt_;
  Console console_;
  std::unique_ptr<FileSaver> saver_;
  std::string url_;
  task::ContextId context_;
  std::optional<task::Message> status_message_;
  Watcher display_;  // empty: the console
  Watcher watcher_;
  std::optional<client::Fetched> card_;
};

}  // namespace baton::cli
