// RefusalLog: logs refused clients and the reasons, without letting a flood fill the log.
//
// Writes one line per address (IPv6: /64 network), reason and minute, with the number of refusals in the
// previous minute that had any; for a reason, whatever the addresses, at most as many as line_limit.h allows.
// So a flood of one kind does not hide the others. Bounded: at kPlacesMax pairs of address and reason it
// drops the expired ones, or all of them if none has expired. Wrong tokens have their own lines
// (wrong_tokens.h). Threads: any.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "server/admission/hosts.h"
#include "server/admission/line_limit.h"

namespace baton::server {

class RefusalLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `reason`: a literal. Returns whether it was logged.
  bool record(std::string_view from_address, std::string_view reason, Time now) {
    const std::string address = network_of(from_address);
    int before = 0;
    const bool is_first = minutes_.with([&](auto& minutes) {
      if (minutes.size() >= kPlacesMax) {
        std::erase_if(minutes, [&](const auto& each) { return now - each.second.begin >= kMinute; });
        if (minutes.size() >= kPlacesMax) minutes.clear();
      }
      Minute& minute = minutes[{address, reason}];
      if (now - minute.begin >= kMinute) {
        before = minute.count;
        minute = {now, 0};
      }
      return ++minute.count == 1;
    });
    if (!is_first || !limit_of(reason).try_add(reason, now)) return false;
    base::log_info({{"address", address.empty() ? "unknown" : address}},
                   "refused: {}; {} in the minute before", reason, before);
    return true;
  }

  static constexpr std::size_t kPlacesMax = 4'096;

 private:
  static constexpr std::chrono::minutes kMinute{1};

  struct Minute {
    Time begin{};
    int count = 0;
  };

  // Limits stay at their places, so they are used without the lock.
  LineLimit& limit_of(std::string_view reason) {
    return *limits_.with([&](auto& limits) { return &limits[reason]; });
  }

  base::Guarded<std::map<std::pair<std::string, std::string_view>, Minute>> minutes_;
  base::Guarded<std::map<std::string_view, LineLimit>> limits_;  // by reason; the program has few
};

}  // namespace baton::server
