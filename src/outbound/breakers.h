// Breakers: a circuit breaker for each origin (scheme, host, port) that is called, so that the callers of a
// dead server do not overload it.
//
// A breaker is closed until a number of consecutive calls have failed. Then it is open: no call is sent for a
// time, which doubles with each further failure. Then it is half open: one call is sent at a time; an answer
// closes the breaker, a failure opens it again. A call fails if it gets no connection, loses it before the
// answer, or gets a status that shows an overloaded or broken server. Threads: any. The number of origins is
// limited: a new one replaces the one unused for longest.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/metrics_text.h"

namespace baton::outbound {

class Breakers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Milliseconds = std::chrono::milliseconds;

  struct Options {
    int failures_max = 5;  // consecutive; the last one opens the breaker
    Milliseconds open_first{1'000},
        open_max{5'000};             // the time it stays open, shortened by up to half at random
    Milliseconds probe_max{10'000};  // half open: then another call may be sent
    Milliseconds probe_wait{250};    // half open: the pause of calls that must wait
    std::size_t origins_max = 256;
    std::function<Time()> now;       // empty: the steady clock
    std::function<double()> random;  // from 0 to 1; empty: a random number
  };

  // `unknown`: the call ended for a reason that says nothing about the server.
  enum class Went { answered, failed, unknown };
  enum class State { closed, half_open, open };

  Breakers() : Breakers(Options()) {}
  explicit Breakers(Options options);

  // Returns zero if the call may be sent; then `report` must follow. Otherwise returns the time after which
  // to ask again. `anyway`: the call may be sent even if the breaker is open.
  Milliseconds admit(const std::string& origin, bool anyway = false);
  void report(const std::string& origin, Went went);

  struct Status {
    std::string origin;
    State state = State::closed;
    std::uint64_t calls = 0, failures = 0, held = 0,
                  opened = 0;  // since the origin was added; held: calls that were not admitted
  };
  std::vector<Status> all() const;
  // Adds the status of all origins as metrics.
  void add_to(base::MetricsText& out) const;

  // Judges a server by the status of an answer. 429, and 503 with Retry-After, are not failures: the server
  // is only busy.
  static Went went(int status, bool has_retry_after);

 private:
  struct Origin {
    Status status;
    int failures_in_a_row = 0;
    Milliseconds open_for{0};  // the last open time; zero: not opened since it was closed
    Time open_until{};
    Time probe_until{};  // half open: the deadline of the call that was sent
    int under_way = 0;
    Time used{};
  };
  using Origins = std::map<std::string, Origin, std::less<>>;

  Origin& find(Origins& origins, const std::string& name, Time now) const;
  void open(Origin& origin, Time now) const;

  const Options options_;
  base::Guarded<Origins> origins_;
};

}  // namespace baton::outbound
