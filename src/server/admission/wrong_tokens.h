// WrongTokens: logs and slows down clients that send wrong tokens.
//
// Writes one log line per address (IPv6: /64 network) and minute, for all addresses together at most as many
// as line_limit.h allows; after a few tries in that minute each further refusal is delayed. Valid tokens are
// never delayed, whatever else comes from the same address. Bounded: at kAddressesMax addresses it drops the
// expired ones, or all of them if none has expired. Threads: any.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/guarded.h"
#include "base/log.h"
#include "server/admission/hosts.h"
#include "server/admission/line_limit.h"

namespace baton::server {

class WrongTokens {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Records a wrong token from this address. `reason`: why it is wrong; empty: it is unknown. Returns how
  // long to delay its refusal.
  std::chrono::milliseconds noted(std::string_view from_address, std::string_view reason, Time now) {
    const std::string address = network_of(from_address);
    int before = 0;
    const int tries = minutes_.with([&](auto& minutes) {
      if (minutes.size() >= kAddressesMax && !minutes.contains(address)) {
        std::erase_if(minutes, [&](const auto& each) { return now - each.second.begin >= kMinute; });
        if (minutes.size() >= kAddressesMax) minutes.clear();
      }
      Minute& minute = minutes[address];
      if (now - minute.begin >= kMinute) {
        before = minute.tries;
        minute = {now, 0};
      }
      return ++minute.tries;
    });
    if (tries == 1 && lines_.try_add("an invalid token", now)) {
      base::log_warn({{"address", address.empty() ? "unknown" : address}},
                     "refused an invalid token{}{}; {} in the minute before", reason.empty() ? "" : ": ",
                     reason, before);
    }
    return tries > kQuickOnes ? kWait : std::chrono::milliseconds(0);
  }

  static constexpr int kQuickOnes = 5;  // undelayed refusals per minute
  static constexpr std::chrono::milliseconds kWait{1'000};
  static constexpr std::size_t kAddressesMax = 4'096;

 private:
  static constexpr std::chrono::minutes kMinute{1};

  struct Minute {
    Time begin;
    int tries = 0;
  };
  base::Guarded<std::unordered_map<std::string, Minute>> minutes_;
  LineLimit lines_;
};

}  // namespace baton::server
