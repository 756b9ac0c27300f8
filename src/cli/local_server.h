// LocalServer: this program's own `serve` as a child process, for commands that try an agent: on a free port
// of loopback, with its tasks in memory unless a database is named, told nothing by the configuration of a
// server in the environment. On standard error it shows what agents write there, and errors.
//
// Threads: one at a time; made before others are. It ends with this program, however that ends.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace baton::cli {

class LocalServer {
 public:
  // Returns once it listens. Fails with unavailable; why is on standard error.
  static base::Result<std::unique_ptr<LocalServer>> start(const std::string& agents_folder,
                                                          const std::string& database = ":memory:");
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  LocalServer(pid_t process, std::string url) : process_(process), url_(std::move(url)) {}

  const pid_t process_;
  const std::string url_;
};

}  // namespace baton::cli
