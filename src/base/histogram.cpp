#include "base/histogram.h"

namespace baton::base {

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot taken;
  taken.bounds = bounds_;
  taken.counts.resize(bounds_.size() + 1);
  for (std::size_t i = 0; i < taken.counts.size(); ++i) {
    taken.counts[i] = counts_[i].load(std::memory_order_relaxed);
    taken.count += taken.counts[i];
  }
  taken.sum = static_cast<double>(sum_.load(std::memory_order_relaxed)) / 1e9;
  return taken;
}

double Histogram::Snapshot::quantile(double q) const {
  if (count == 0 || bounds.empty()) return 0;
  const double rank = q * static_cast<double>(count);
  double below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (here > 0 && below + here >= rank) {
      const double from = i == 0 ? 0 : bounds[i - 1];
      return from + (bounds[i] - from) * std::max(0.0, rank - below) / here;
    }
    below += here;
  }
  return bounds.back();
}

}  // namespace baton::base
