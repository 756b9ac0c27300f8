#include "base/fair_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

namespace fair_pool_test {

using baton::base::FairPool;

TEST_CASE("FairPool: one owner never has more than half of the threads") {
  FairPool pool("test", 4, 100);
  std::promise<void> gate, other_ran;
  const auto open = gate.get_future().share();
  std::latch two_run(2);
  std::atomic<int> running{0}, most{0};
  for (int n = 0; n < 8; ++n) {
    REQUIRE(pool.try_submit("ann", [&, open, n] {
      const int now = ++running;
      for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
      }
      if (n < 2) two_run.count_down();
      open.wait();
      --running;
    }));
  }
  two_run.wait();
  REQUIRE(pool.try_submit("bob", [&] { other_ran.set_value(); }));
  other_ran.get_future().get();
  gate.set_value();
  pool.stop();
  CHECK(most == 2);
}

TEST_CASE("FairPool: owners take turns, and all that is queued runs") {
  FairPool pool("test", 1, 100);
  std::promise<void> gate, begun;
  const auto open = gate.get_future().share();
  REQUIRE(pool.try_submit("ann", [&, open] {
    begun.set_value();
    open.wait();
  }));
  begun.get_future().get();
  std::vector<std::string> ran;
  for (const char* owner : {"ann", "ann", "ann", "bob", "cat", "bob"})
    REQUIRE(pool.try_submit(owner, [&ran, owner] { ran.emplace_back(owner); }));
  gate.set_value();
  pool.stop();
  CHECK(ran == std::vector<std::string>{"ann", "bob", "cat", "ann", "bob", "ann"});
}

TEST_CASE("FairPool: one owner never has more than half of the queue") {
  FairPool pool("test", 1, 6);
  std::promise<void> gate, begun;
  const auto open = gate.get_future().share();
  REQUIRE(pool.try_submit("ann", [&, open] {
    begun.set_value();
    open.wait();
  }));
  begun.get_future().get();
  std::vector<std::string> ran;
  const auto submit = [&](const char* owner) {
    return pool.try_submit(owner, [&ran, owner] { ran.emplace_back(owner); });
  };
  for (int i = 0; i < 3; ++i) CHECK(submit("ann"));
  CHECK_FALSE(submit("ann"));
  CHECK(submit("bob"));
  gate.set_value();
  pool.stop();
  CHECK(ran == std::vector<std::string>{"ann", "bob", "ann", "ann"});
}

TEST_CASE("FairPool: a pool that is never idle takes as much as an idle one") {
  constexpr int kMany = 20;
  FairPool pool("test", 1, 2);
  std::vector<std::promise<void>> begun(kMany), gates(kMany);
  for (int i = 0; i < kMany; ++i) {
    REQUIRE(pool.try_submit("ann", [&begin = begun[i], open = gates[i].get_future().share()] {
      begin.set_value();
      open.wait();
    }));
    if (i > 0) gates[i - 1].set_value();
    begun[i].get_future().get();
  }
  gates.back().set_value();
  pool.stop();
}

TEST_CASE(
    "FairPool: a function that does not fit is not taken, and an exception ends its own function only") {
  FairPool pool("test", 1, 1);
  std::promise<void> gate, begun;
  const auto open = gate.get_future().share();
  REQUIRE(pool.try_submit("ann", [&, open] {
    begun.set_value();
    open.wait();
    throw std::runtime_error("no");
  }));
  begun.get_future().get();
  bool second = false, third = false;
  REQUIRE(pool.try_submit("ann", [&] { second = true; }));
  std::function<void()> work = [&] { third = true; };
  CHECK_FALSE(pool.try_submit("bob", std::move(work)));
  CHECK(static_cast<bool>(work));
  gate.set_value();
  pool.stop();
  CHECK(second);
  CHECK_FALSE(third);
  CHECK_FALSE(pool.try_submit("bob", std::move(work)));
}

}  // namespace fair_pool_test
