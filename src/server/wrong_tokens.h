// WrongTokens: who has sent tokens that are not good, so that they are logged and slowed down.
//
// One line in the log for each address (of IPv6: network of 64 bits) and minute, and after a few tries in
// that minute each further refusal waits. Right tokens never do, whatever else comes from the same address.
// Bounded: so many addresses are known at once; past that the oldest ones are forgotten.
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

  // A wrong token came from this address. How long its refusal should wait.
  std::chrono::milliseconds noted(std::string_view address, Time now);

  static constexpr int kQuickOnes = 5;  // in a minute
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
