// TaskViews: reads views of a task that only a Baton has: its tree and its log.
//
// Threads: one. Catches Ctrl-C (app::Interrupt).
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
  // `task` is the whole id.
  TaskViews(const ClientOptions& client, const std::string& task);

  // Reads a view such as "/tree". On an error, prints it, sets `code` to the exit code and returns nullopt.
  // `patient`: retries for up to a minute after the last answer, if a server that has answered is
  // unreachable.
  std::optional<json::Document> get(const std::string& view, bool patient);
  // Waits. Returns false after Ctrl-C; then `code` is its exit code.
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
