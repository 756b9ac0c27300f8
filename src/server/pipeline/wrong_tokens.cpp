#include "server/pipeline/wrong_tokens.h"

#include "base/log.h"
#include "server/hosts.h"

namespace baton::server {
namespace {

constexpr std::chrono::minutes kMinute{1};

}  // namespace

std::chrono::milliseconds WrongTokens::noted(std::string_view from_address, Time now) {
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
  if (tries == 1) {
    base::log_warn({{"address", address.empty() ? "unknown" : address}},
                   "a token that is not good was sent; {} in the minute before that", before);
  }
  return tries > kQuickOnes ? kWait : std::chrono::milliseconds(0);
}

}  // namespace baton::server
