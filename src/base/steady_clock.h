// SteadyClock: for times that are compared with each other over hours, and not shown.
#pragma once

#include "base/clock.h"

namespace baton::base {

// Begins as another clock is at its making and from then on keeps the pace of the machine, asleep or not:
// setting the other clock does not move it. Threads: any.
class SteadyClock final : public Clock {
 public:
  explicit SteadyClock(const Clock& clock);
  Timestamp now() const override;

 private:
  const Duration begin_;  // what it is ahead of the machine's
};

}  // namespace baton::base
