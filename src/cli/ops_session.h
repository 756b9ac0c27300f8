// OpsSession: one `baton ops` command's talk with a server.
//
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/signals.h"
#include "cli/console.h"
#include "cli/ops_commands.h"
#include "client/operator_api.h"
#include "json/document.h"

namespace baton::cli {

class OpsSession {
 public:
  explicit OpsSession(const OpsTarget& target)
      : console_(target.json), api_(target.url, target.access, interrupt_.fd()) {}

  Console& console() { return console_; }
  const client::OperatorApi& api() const { return api_; }
  app::Interrupt& interrupt() { return interrupt_; }

  // The answer, or nothing once the error has been printed; then `code` is the exit code.
  std::optional<json::Document> get(const std::string& path);
  std::optional<json::Document> post(const std::string& path, std::string body);
  std::optional<json::Document> remove(const std::string& path, std::string body);
  // The key of the task that is meant: by its key, or by its id, a beginning of it or its short form.
  // Nothing: no task or several are meant, which has been printed, and `code` is the exit code.
  std::optional<std::string> find_task(const std::string& named);
  // The same for the filter's members that hold a task's key.
  bool find_tasks_in(OpsFilter& filter);
  void complain(const client::CallError& error, const std::string& path);
  int code() const { return code_; }

 private:
  std::optional<json::Document> take(client::OperatorApi::Answer answer, const std::string& path);

  app::Interrupt interrupt_;
  Console console_;
  const client::OperatorApi api_;
  int code_ = 0;
};

// "/tasks?state=failed&limit=50": the parameters that are not empty.
std::string with_query(std::string path, const OpsFilter& parameters);

}  // namespace baton::cli
