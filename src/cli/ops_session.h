// OpsSession: the requests of one `baton ops` command to a server.
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

  // Return the answer. On an error, print it, set `code` to the exit code and return nullopt.
  std::optional<json::Document> get(const std::string& path);
  std::optional<json::Document> post(const std::string& path, std::string body);
  std::optional<json::Document> remove(const std::string& path, std::string body);
  // Returns the key of the task with the given key, id, beginning of an id, or short form. If none or several
  // match, prints that, sets `code` to the exit code and returns nullopt.
  std::optional<std::string> find_task(const std::string& named);
  // Replaces the filter's values that name a task by `find_task`. Returns false if it failed for one.
  bool find_tasks_in(OpsFilter& filter);
  void complain(const client::CallError& error, const std::string& path);
  int code() const { return code_; }

 private:
  std::optional<json::Document> read_answer(client::OperatorApi::Answer answer, const std::string& path);

  app::Interrupt interrupt_;
  Console console_;
  const client::OperatorApi api_;
  int code_ = 0;
};

// If the server's error is about a member that has another name as an option, returns the error of that
// option: "--age: must be a whole number", not "age_min_s: ...".
std::optional<std::string> error_of_option(std::string_view error);

// Appends the parameters that are not empty: "/tasks?state=failed&limit=50".
std::string with_query(std::string path, const OpsFilter& parameters);

}  // namespace baton::cli
