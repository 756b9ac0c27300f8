#include "http/turn.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace turn_test {

using baton::http::Turn;

TEST_CASE("Turn: a knock while somebody else has it comes out when it is given back") {
  Turn turn;
  CHECK(turn.knock());
  turn.give_to_exchange();
  CHECK_FALSE(turn.is_loops());
  CHECK_FALSE(turn.knock());
  REQUIRE(turn.claim());
  CHECK(turn.give_back());
  CHECK(turn.is_loops());
  turn.give_to_exchange();
  REQUIRE(turn.claim());
  CHECK_FALSE(turn.give_back());
}

TEST_CASE("Turn: whoever opens a stream hears of a knock that came before") {
  for (const bool knocks : {false, true}) {
    Turn turn;
    turn.give_to_exchange();
    if (knocks) CHECK_FALSE(turn.knock());
    CHECK(turn.take_from_exchange() == std::optional(knocks));
    CHECK(turn.is_loops());
    CHECK(turn.knock());
  }
}

TEST_CASE("Turn: once withdrawn nobody can claim it, and a writer's turn cannot be withdrawn") {
  Turn turn;
  turn.give_to_exchange();
  REQUIRE(turn.withdraw());
  CHECK_FALSE(turn.claim());
  CHECK_FALSE(turn.take_from_exchange().has_value());
  Turn other;
  other.give_to_exchange();
  REQUIRE(other.claim());
  CHECK_FALSE(other.withdraw());
  CHECK_FALSE(other.claim());
}

TEST_CASE("Turn: of many that claim or withdraw at the same time exactly one succeeds") {
  for (int round = 0; round < 200; ++round) {
    Turn turn;
    int guarded_by_turn = 0;
    turn.give_to_exchange();
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        if (i == 0 ? turn.withdraw() : turn.claim()) {
          ++guarded_by_turn;
          ++winners;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(winners == 1);
    CHECK(guarded_by_turn == 1);
  }
}

}  // namespace turn_test
