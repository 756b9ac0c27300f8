#include "base/steady_clock.h"

#include <time.h>

namespace baton::base {
namespace {

Duration since_boot() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                              std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace

SteadyClock::SteadyClock(const Clock& clock) : begin_(clock.now().time_since_epoch() - since_boot()) {}

Timestamp SteadyClock::now() const {
  return Timestamp(begin_ + since_boot());
}

}  // namespace baton::base
