// LocalServer: runs this program's `dev` as a child process, for commands that try out an agent. It listens
// on a free loopback port and keeps its tasks in memory, unless a database is named. It ignores Baton's
// settings in the environment, which belong to another server. Errors and the standard error of agents go to
// standard error. It accepts only requests with a token that is made for it, so other users of the machine
// are refused.
//
// Threads: one at a time; created before the program starts other threads. The child ends with this program,
// even if the program crashes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "client/remote.h"

namespace baton::cli {

class LocalServer {
 public:
  // Returns once it listens. Fails with unavailable; the child prints the reason to standard error.
  static base::Result<std::unique_ptr<LocalServer>> start(const std::string& agents_folder,
                                                          const std::string& database = ":memory:");
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Sets the client's URL and token.
  void let_in(client::Target& client) const;

 private:
  LocalServer(pid_t process, std::string url, std::string token)
      : process_(process), url_(std::move(url)), token_(std::move(token)) {}

  const pid_t process_;
  const std::string url_, token_;
};

}  // namespace baton::cli
