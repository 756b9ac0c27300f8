// KeptConnections: connections that have served a request and may serve another one to the same server.
//
// Threads: any. The numbers of connections, and the time that they are kept, are limited.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/guarded.h"
#include "outbound/socket.h"
#include "outbound/wait_limits.h"

namespace baton::outbound {

class KeptConnections {
 public:
  struct Options {
    std::size_t server_max = 4;  // connections to one server
    std::size_t all_max = 64;
    std::chrono::seconds time_max{15};      // without a request
    std::chrono::seconds lifetime_max{60};  // then the server's name is looked up again
    std::function<SteadyTime()> now;        // empty: the steady clock
  };

  KeptConnections() : KeptConnections(Options()) {}
  explicit KeptConnections(Options options);

  struct Connection {
    std::unique_ptr<Channel> channel;
    SteadyTime opened;
  };
  // Returns the connection that was kept last under this key; its channel is null if there is none that still
  // may work. The key names all that decides where a connection leads and whether it is allowed.
  Connection take(const std::string& key);
  // Closes the connection if it was opened too long ago. At a limit, closes the oldest one.
  void keep(std::string key, Connection connection);

 private:
  struct Kept {
    std::string key;
    Connection connection;
    SteadyTime since;
  };
  using All = std::list<Kept>;  // the oldest first
  // Moves the connections that were kept for too long to `gone`.
  void drop_old(All& all, All& gone) const;
  bool is_too_old(const Connection& connection) const;

  const Options options_;
  base::Guarded<All> all_;
};

}  // namespace baton::outbound
