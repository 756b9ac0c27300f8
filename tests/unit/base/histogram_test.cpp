#include "base/histogram.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace histogram_test {

using namespace baton;
using std::chrono::milliseconds;

namespace {
constexpr std::array kBounds{0.01, 0.1, 1.0};
}

TEST_CASE("Histogram: a time on a bound belongs below it, one above the last bound to the rest") {
  base::Histogram histogram(kBounds);
  for (const int ms : {0, 10, 11, 100, 1'000, 1'001, 90'000}) histogram.observe(milliseconds(ms));
  const auto taken = histogram.snapshot();
  CHECK(taken.counts == std::vector<std::uint64_t>{2, 2, 1, 2});
  CHECK(taken.count == 7);
  CHECK(taken.sum == doctest::Approx(92.122));
}

TEST_CASE("Histogram: a quantile is interpolated within its bucket, and is the last bound above it") {
  base::Histogram histogram(kBounds);
  CHECK(histogram.snapshot().quantile(0.5) == 0);
  for (int i = 0; i < 50; ++i) histogram.observe(milliseconds(5));
  for (int i = 0; i < 50; ++i) histogram.observe(milliseconds(50));
  CHECK(histogram.snapshot().quantile(0.5) == doctest::Approx(0.01));
  CHECK(histogram.snapshot().quantile(0.75) == doctest::Approx(0.055));
  for (int i = 0; i < 900; ++i) histogram.observe(milliseconds(5'000));
  CHECK(histogram.snapshot().quantile(0.99) == 1.0);
}

TEST_CASE("Histogram: observations of several threads are all counted") {
  base::Histogram histogram(kBounds);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 10'000; ++j) histogram.observe(milliseconds(j % 2 == 0 ? 1 : 2'000));
      });
    }
  }
  CHECK(histogram.snapshot().counts == std::vector<std::uint64_t>{20'000, 0, 0, 20'000});
}

}  // namespace histogram_test
