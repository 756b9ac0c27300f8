// SteadyClock: a clock for times that are compared over hours and never shown.
#pragma once

#include "base/clock.h"

namespace baton::base {

// Starts at the time of another clock, then advances with the machine, also while it sleeps. Later changes to
// the other clock have no effect. Threads: any.
class SteadyClock final : public Clock {
 public:
  explicit SteadyClock(const Clock& clock);
  Timestamp now() const override;

 private:
  const Duration begin_;  // offset from the time since boot
};

}  // namespace baton::base
