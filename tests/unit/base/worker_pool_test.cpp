#include "base/worker_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

using baton::base::WorkerPool;

TEST_CASE("WorkerPool: a full queue refuses and what was taken still runs") {
  std::atomic<int> ran{0};
  std::promise<void> gate;
  std::promise<void> begun;
  WorkerPool pool("test", 1, 2);
  const auto open = gate.get_future().share();
  REQUIRE(pool.try_submit([&, open] {
    begun.set_value();
    open.wait();
    ++ran;
  }));
  begun.get_future().get();
  CHECK(pool.try_submit([&] { ++ran; }));
  CHECK(pool.try_submit([&] { ++ran; }));
  CHECK_FALSE(pool.try_submit([&] { ++ran; }));
  gate.set_value();
  pool.stop();
  CHECK(ran == 3);
  CHECK_FALSE(pool.try_submit([] {}));
}
