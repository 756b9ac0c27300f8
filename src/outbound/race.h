// Race: connects to the first of several addresses that accepts (RFC 8305, 5).
//
// The families take turns, and an attempt that neither succeeds nor fails within kDelay is joined by one at
// the next address. At most kAddressesMax addresses are tried.
// Threads: the event loop's. Destroying it ends all attempts.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "outbound/socket.h"
#include "outbound/wait_limits.h"

namespace baton::outbound {

class Race {
 public:
  static constexpr std::chrono::milliseconds kDelay{250};
  static constexpr std::size_t kAddressesMax = 10;
  // Errors: deadline_exceeded, unavailable.
  using Done = std::function<void(base::Result<std::unique_ptr<Socket>>)>;

  // `addresses`: texts of addresses, at least one. `timeout`: of each attempt. The loop must outlive this.
  Race(base::EventLoop& loop, const std::vector<std::string>& addresses, int port,
       std::chrono::milliseconds timeout, Done done);
  ~Race();
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  // Begins. `done` is called once, perhaps before this returns, and may destroy this.
  void start() { step(); }

 private:
  struct Attempt {
    std::unique_ptr<Socket> socket;
    SteadyTime until;
    base::EventLoop::Ready on_ready;
  };
  using Attempts = std::list<Attempt>;

  // Begins attempts that are due, and ends those that took too long. Afterwards this may be destroyed.
  void step();
  void begin_next(SteadyTime now);
  void drop_late(SteadyTime now);
  void look_at(Attempts::iterator attempt);
  void lose(base::Error why);
  void end(base::Result<std::unique_ptr<Socket>> result);
  void close();

  base::EventLoop& loop_;
  const std::vector<std::string> order_;
  const int port_;
  const std::chrono::milliseconds timeout_;
  Done done_;
  Attempts open_;
  std::size_t next_ = 0;
  SteadyTime next_at_{};
  base::EventLoop::TimerId timer_ = 0;
  base::Error last_;
};

}  // namespace baton::outbound
