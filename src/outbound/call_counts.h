// CallCounts: how many calls went to each server, and how they ended, for metrics.
//
// Threads: any. The number of servers is limited: further ones are counted together, as "other", but replace
// one that was not called for an hour.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "base/metrics_text.h"

namespace baton::outbound {

// done, busy, lost, refused: the status, as Outcome has it (refused: final), or lost: a connection that ended
// before the answer's head. unreachable: no connection, so nothing was sent. forbidden: Baton's own rules
// stopped the call. stopped: its caller did.
enum class CallOutcome { done, busy, lost, refused, unreachable, forbidden, stopped };

class CallCounts {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kServersMax = 64;

  // `now`: empty: the steady clock.
  explicit CallCounts(std::function<Time()> now = {});

  // `server`: its origin, or a name for several. `took`: the time up to the answer's head, or to the end of a
  // call without one.
  void add(std::string_view server, CallOutcome outcome, std::chrono::nanoseconds took);
  // Adds the counts as metrics.
  void add_to(base::MetricsText& out) const;

 private:
  struct Server {
    std::array<std::int64_t, 7> calls{};  // by CallOutcome
    std::chrono::nanoseconds took{0};     // of all
    Time used{};
  };
  struct Counts {
    std::map<std::string, Server, std::less<>> servers;
    Server other;
  };
  static Server& find(Counts& counts, std::string_view name, Time now);

  const std::function<Time()> now_;
  base::Guarded<Counts> counts_;
};

}  // namespace baton::outbound
