#include "base/worker_pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>

#include "base/exception_report.h"
#include "support/lack_of_memory.h"

namespace worker_pool_test {

using baton::base::Burst;
using baton::base::WorkerPool;

TEST_CASE("WorkerPool: a full queue refuses, and functions accepted before still run") {
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

TEST_CASE("WorkerPool: blocking functions do not delay others while more threads may be started") {
  WorkerPool pool("test", 3, 100);
  std::promise<void> gate;
  const auto open = gate.get_future().share();
  std::promise<void> second_begun, third_ran;
  // The first function covers the case that a notified idle thread has not woken when the others arrive.
  REQUIRE(pool.try_submit([] {}));
  REQUIRE(pool.try_submit([open] { open.wait(); }));
  REQUIRE(pool.try_submit([&, open] {
    second_begun.set_value();
    open.wait();
  }));
  REQUIRE(pool.try_submit([&] { third_ran.set_value(); }));
  second_begun.get_future().wait();
  third_ran.get_future().wait();
  gate.set_value();
  pool.stop();
}

TEST_CASE("WorkerPool: a function is taken although no memory is left for another thread") {
  std::promise<void> gate, begun;
  const auto open = gate.get_future().share();
  bool ran = false;
  WorkerPool pool("test", 2, 10);
  REQUIRE(pool.try_submit([&, open] {
    begun.set_value();
    open.wait();
  }));
  begun.get_future().get();
  bool taken = false;
  {
    const baton::test::LackOfMemory lack;
    taken = pool.try_submit([&ran] { ran = true; });
  }
  CHECK(taken);
  gate.set_value();
  pool.stop();
  CHECK(ran);
}

TEST_CASE("WorkerPool: functions submitted to several pools in nested bursts run when the bursts end") {
  WorkerPool first("first", 2, 100);
  WorkerPool second("second", 1, 100);
  for (int round = 0; round < 20; ++round) {
    std::latch ran(12);
    {
      const Burst outer;
      for (int i = 0; i < 4; ++i) REQUIRE(first.try_submit([&] { ran.count_down(); }));
      {
        const Burst inner;
        for (int i = 0; i < 4; ++i) REQUIRE(second.try_submit([&] { ran.count_down(); }));
      }
      for (int i = 0; i < 4; ++i) REQUIRE(first.try_submit([&] { ran.count_down(); }));
    }
    ran.wait();
  }
}

TEST_CASE("WorkerPool: a pool destroyed within a burst has run the functions submitted in the burst") {
  std::atomic<int> ran = 0;
  const Burst burst;
  for (int round = 0; round < 20; ++round) {
    WorkerPool pool("test", 2, 100);
    for (int i = 0; i < 4; ++i) REQUIRE(pool.try_submit([&] { ++ran; }));
    pool.stop();
  }
  CHECK(ran == 80);
}

TEST_CASE("WorkerPool: an exception ends its function alone and is reported") {
  static std::atomic<int> reported{0};
  baton::base::report_exceptions_to([](const char* pool, const char* what) noexcept {
    if (std::string(pool) == "breaking" && std::string(what) == "no memory") ++reported;
  });
  std::atomic<int> ran{0};
  {
    WorkerPool pool("breaking", 1, 100);
    for (int i = 0; i < 3; ++i) {
      CHECK(pool.try_submit([] { throw std::runtime_error("no memory"); }));
      CHECK(pool.try_submit([] { throw 7; }));
      CHECK(pool.try_submit([&] { ++ran; }));
    }
    pool.stop();
  }
  baton::base::report_exceptions_to(nullptr);
  CHECK(ran == 3);
  CHECK(reported == 3);
}

TEST_CASE("WorkerPool: threads of low priority have a higher nice value than those of a normal pool") {
  std::atomic<int> normal{0}, low{0};
  WorkerPool first("first", 1, 10), last("last", 1, 10, baton::base::ThreadPriority::low);
  CHECK(first.try_submit([&] { normal = getpriority(PRIO_PROCESS, 0); }));
  CHECK(last.try_submit([&] { low = getpriority(PRIO_PROCESS, 0); }));
  first.stop();
  last.stop();
  CHECK(low > normal);
}

TEST_CASE("WorkerPool: threads of a prompt pool do not inherit the low priority of the submitting thread") {
  std::latch both(3);
  std::atomic<int> nice{0};
  WorkerPool prompt("prompt", 2, 10, baton::base::ThreadPriority::prompt);
  WorkerPool low("low", 1, 10, baton::base::ThreadPriority::low);
  CHECK(low.try_submit([&] {
    for (int i = 0; i < 2; ++i) {
      CHECK(prompt.try_submit([&] {
        nice += getpriority(PRIO_PROCESS, 0);
        both.arrive_and_wait();
      }));
    }
  }));
  both.arrive_and_wait();
  CHECK(nice == 2 * getpriority(PRIO_PROCESS, 0));
}

}  // namespace worker_pool_test
