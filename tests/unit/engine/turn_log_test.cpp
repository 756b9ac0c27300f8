#include "engine/turns/turn_log.h"

#include <doctest/doctest.h>

#include "support/growth.h"

namespace turn_log_test {

using namespace baton;

TEST_CASE("TurnLog: a log of many replies is read in linear time") {
  test::keep_memory();
  task::TaskHead head;
  head.id = {"t"};
  head.turn_message = {1};
  // The replies are of an earlier turn, or the turn's own, which are withdrawn at last.
  for (const bool is_own : {false, true}) {
    test::check_growth(is_own ? "own" : "earlier", 4'000, [&](std::size_t count) {
      std::vector<task::Event> log;
      task::Withdrawn all;
      for (std::size_t i = 0; i < count; ++i) {
        all.artifacts.push_back({"r" + std::to_string(i)});
        log.push_back(
            {{static_cast<std::int64_t>(i) + 2}, {}, task::TextDelta{all.artifacts.back(), 0, "x", true}});
      }
      head.turn_begin = is_own ? head.turn_message : log.back().number;
      if (is_own) log.push_back({{log.back().number.value + 1}, {}, std::move(all)});
      return [head, log, is_own] {
        const auto read = engine::read_turn_log(head, [&](task::EventNumber after) {
          return after < log.back().number ? log : std::vector<task::Event>();
        });
        REQUIRE(read);
        REQUIRE(read->shown.empty());
        REQUIRE(read->said.empty() == is_own);
      };
    });
  }
}

}  // namespace turn_log_test
