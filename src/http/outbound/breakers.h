// Breakers: a circuit breaker for each origin (scheme, host, port) that is called, so that a dead server is
// not hammered by all who wait for it.
//
// Closed, until a number of calls in a row have failed. Then open: no call goes out for a while, which
// doubles with each further failure. Then half open: one call at a time; an answer closes the breaker, a
// failure opens it again. A call fails that gets no connection, loses it before an answer, or is answered
// with a status that says the server is in trouble. Threads: any. The number of origins is bounded: a new one
// takes the place of the one unused for longest.
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

namespace baton::http::outbound {

class Breakers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Milliseconds = std::chrono::milliseconds;

  struct Options {
    int failures_max = 5;                             // in a row; the last one opens
    Milliseconds open_first{1'000}, open_max{5'000};  // how long it stays open: from half of it to all of it
    Milliseconds probe_max{10'000};                   // after that another call may try, half open
    Milliseconds probe_wait{250};                     // when to ask again while one call tries
    std::size_t origins_max = 256;
    std::function<Time()> now;       // empty: the steady clock
    std::function<double()> random;  // from 0 to 1; empty: chance
  };

  // `unknown`: the call was ended for reasons of its own.
  enum class Went { answered, failed, unknown };
  enum class State { closed, half_open, open };

  Breakers() : Breakers(Options()) {}
  explicit Breakers(Options options);

  // Zero: the call may go out, and `report` must follow. Else it must not; ask again after so long. `anyway`:
  // it goes out even if the breaker is open.
  Milliseconds admit(const std::string& origin, bool anyway = false);
  void report(const std::string& origin, Went went);

  struct Status {
    std::string origin;
    State state = State::closed;
    std::uint64_t calls = 0, failures = 0, held = 0,
                  opened = 0;  // since the origin is known; held: not admitted
  };
  std::vector<Status> all() const;
  // The same as metrics.
  void add_to(base::MetricsText& out) const;

  // What an answer with this status says of its server. 429, and 503 with Retry-After, say that it is busy.
  static Went went(int status, bool has_retry_after);

 private:
  struct Origin {
    Status status;
    int failures_in_a_row = 0;
    Milliseconds open_for{0};  // the last time; zero: not since it was closed
    Time open_until{};
    Time probe_until{};  // half open: a call tries until then
    int under_way = 0;
    Time used{};
  };
  using Origins = std::map<std::string, Origin, std::less<>>;

  Origin& find(Origins& origins, const std::string& name, Time now) const;
  void open(Origin& origin, Time now) const;

  const Options options_;
  base::Guarded<Origins> origins_;
};

}  // namespace baton::http::outbound
