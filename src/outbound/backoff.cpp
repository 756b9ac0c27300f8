#include "outbound/backoff.h"

#include <algorithm>

#include "outbound/rules.h"

namespace baton::outbound {

std::optional<Backoff::Pause> Backoff::after(const Trouble& trouble, Milliseconds left) {
  if (trouble.held)
    return Pause{std::clamp(left, Milliseconds(0), trouble.retry_after), trouble.retry_after >= left};
  const Milliseconds time = trouble.retry_after + with_jitter(pause_);
  if (time >= left) return std::nullopt;
  pause_ = std::min(pause_ * 2, most_);
  return Pause{time};
}

}  // namespace baton::outbound
