// LocalServer: this program's own `serve` as a child process, for commands that try an agent: on a free port
// of loopback, with its tasks in memory unless a database is named, told nothing by the configuration of a
// server in the environment. On standard error it shows what agents write there, and errors. Whoever else
// uses this machine is refused: it takes only requests with a token that is made for it.
//
// Threads: one at a time; made before others are. It ends with this program, however that ends.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "client/remote.h"

namespace baton::cli {

class LocalServer {
 public:
  // Returns once it listens. Fails with unavailable; why is on standard error.
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
