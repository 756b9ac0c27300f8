// Handshakes: performs the TLS handshakes of a listener, on threads of its own, so that a flood of them
// delays new connections and not open ones.
//
// Threads: `begin` from one thread; `done` is called on the handshakes' threads. `stop` may be called while
// `done` runs, waits for it, and drops all unfinished handshakes, whose sockets are closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "http/http_server.h"
#include "http/tls/identity.h"
#include "http/tls_session.h"

namespace baton::http {

// An accepted socket, before or after its handshake.
struct Greeted {
  enum class Outcome {
    secure,  // `tls` is ready
    plain,   // the client sent plain HTTP
    failed,  // the client has left, or does not speak TLS as we do
    late,    // the handshake took too long
  };
  base::UniqueFd fd;
  std::string address;
  bool surplus = false;  // see Connection
  Outcome outcome = Outcome::failed;
  std::unique_ptr<TlsSession> tls;
};

class Handshakes {
 public:
  // Gets each socket back that was passed to `begin`, unless `stop` came first.
  using Done = std::function<void(std::shared_ptr<Greeted>)>;

  Handshakes(const tls::Identity& identity, const Limits& limits, Done done);
  ~Handshakes();

  void start();
  void stop();

  void begin(std::shared_ptr<Greeted> socket);
  // Returns true if as many handshakes are under way as may be. Unfinished ones then get less time.
  bool is_full() const { return under_way_ >= limits_.handshakes_max; }

 private:
  class Thread;

  const tls::Identity& identity_;
  const Limits limits_;
  const Done done_;
  std::atomic<int> under_way_{0};
  std::size_t next_ = 0;  // of the threads
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace baton::http
