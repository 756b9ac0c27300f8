#include "http/output_owner.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace output_owner_test {

using baton::http::OutputOwner;

TEST_CASE("OutputOwner: give_back reports a knock made while another owner had the output") {
  OutputOwner owner;
  CHECK(owner.knock());
  owner.give_to_exchange();
  CHECK_FALSE(owner.is_loop());
  CHECK_FALSE(owner.knock());
  REQUIRE(owner.claim());
  CHECK(owner.give_back());
  CHECK(owner.is_loop());
  owner.give_to_exchange();
  REQUIRE(owner.claim());
  CHECK_FALSE(owner.give_back());
}

TEST_CASE("OutputOwner: take_from_exchange reports an earlier knock") {
  for (const bool knocks : {false, true}) {
    OutputOwner owner;
    owner.give_to_exchange();
    if (knocks) CHECK_FALSE(owner.knock());
    CHECK(owner.take_from_exchange() == std::optional(knocks));
    CHECK(owner.is_loop());
    CHECK(owner.knock());
  }
}

TEST_CASE("OutputOwner: after withdraw no claim succeeds, and a claimed output cannot be withdrawn") {
  OutputOwner owner;
  owner.give_to_exchange();
  REQUIRE(owner.withdraw());
  CHECK_FALSE(owner.claim());
  CHECK_FALSE(owner.take_from_exchange().has_value());
  OutputOwner other;
  other.give_to_exchange();
  REQUIRE(other.claim());
  CHECK_FALSE(other.withdraw());
  CHECK_FALSE(other.claim());
}

TEST_CASE("OutputOwner: of many concurrent claims and withdraws exactly one succeeds") {
  for (int round = 0; round < 200; ++round) {
    OutputOwner owner;
    int guarded_by_owner = 0;
    owner.give_to_exchange();
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        if (i == 0 ? owner.withdraw() : owner.claim()) {
          ++guarded_by_owner;
          ++winners;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(winners == 1);
    CHECK(guarded_by_owner == 1);
  }
}

}  // namespace output_owner_test
