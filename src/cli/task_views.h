// TaskViews: asks a Baton for its own views of a task: its tree, its log.
//
// Threads: one; it takes Ctrl-C (app::Interrupt).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/signals.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "client/endpoint.h"
#include "json/document.h"

namespace baton::cli {

class TaskViews {
 public:
  // `task`: its whole id.
  TaskViews(const ClientOptions& client, const std::string& task);

  // Reads "/tree" or the like. Nothing: it has been said why, and `code` is the exit code. `patient`: a
  // server that has answered before may be away for a minute.
  std::optional<json::Document> get(const std::string& view, bool patient);
  // Waits. Returns false after Ctrl-C; then `code` says so.
  bool wait(std::chrono::milliseconds time);

  Console& console() { return console_; }
  int code() const { return code_; }

 private:
  void report(const client::CallError& error, const std::string& url);

  app::Interrupt interrupt_;
  Console console_;
  const client::Access access_;
  std::string base_;
  std::optional<std::chrono::steady_clock::time_point> met_at_;  // the last answer
  int code_ = kExitDone;
};

}  // namespace baton::cli
