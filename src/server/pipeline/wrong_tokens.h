// WrongTokens: logs and slows down clients that send wrong tokens.
//
// Writes one log line per address (IPv6: /64 network) and minute; after a few tries in that minute each
// further refusal is delayed. Valid tokens are never delayed, whatever else comes from the same address.
// Bounded: at kAddressesMax addresses the expired ones are forgotten, or all of them if none has expired.
// Threads: any.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/guarded.h"

namespace baton::server {

class WrongTokens {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Records a wrong token from this address. Returns how long to delay its refusal.
  std::chrono::milliseconds noted(std::string_view address, Time now);

  static constexpr int kQuickOnes = 5;  // undelayed refusals per minute
  static constexpr std::chrono::milliseconds kWait{1'000};
  static constexpr std::size_t kAddressesMax = 4'096;

 private:
  struct Minute {
    Time begin;
    int tries = 0;
  };
  base::Guarded<std::unordered_map<std::string, Minute>> minutes_;
};

}  // namespace baton::server
