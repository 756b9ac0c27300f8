#include "base/burst.h"

#include <algorithm>
#include <new>

namespace baton::base {

thread_local int Burst::depth_ = 0;
thread_local std::vector<std::shared_ptr<Wakeup>> Burst::to_wake_;

void Burst::wake(const std::shared_ptr<Wakeup>& sleeper) {
  if (depth_ == 0) return sleeper->wake();
  if (std::ranges::find(to_wake_, sleeper) != to_wake_.end()) return;
  try {
    to_wake_.push_back(sleeper);
  } catch (const std::bad_alloc&) {
    sleeper->wake();
  }
}

Burst::~Burst() {
  if (--depth_ > 0) return;
  for (const auto& sleeper : to_wake_) sleeper->wake();
  to_wake_.clear();
}

}  // namespace baton::base
