#include "server/operate/query.h"

#include <doctest/doctest.h>

namespace query_test {

using namespace baton;
using server::operate::Query;

namespace {

const base::Timestamp kNow = base::from_ms(1'000'000'000);

// The problem of a list's query, or an empty text.
std::string problem_of(const Query::Pairs& pairs) {
  Query query(pairs);
  (void)server::operate::read_filter(query, kNow);
  const auto good = query.checked();
  return good ? std::string() : good.error().for_caller;
}

}  // namespace

TEST_CASE("Query: a filter has all parameters that are given") {
  const Query::Pairs pairs{{"state", "failed,unfinished"},
                           {"state", "input-required"},
                           {"id", "01a2"},
                           {"agent", "echo"},
                           {"caller", "ann"},
                           {"parent", "42"},
                           {"age_min_s", "60"},
                           {"attempts_min", "3"},
                           {"undelivered", "1"},
                           {"retried", "0"},
                           {"error", "disk"}};
  Query query(pairs);
  const auto filter = server::operate::read_filter(query, kNow);
  REQUIRE(query.checked());
  CHECK(filter.states == std::vector{task::State::failed, task::State::input_required});
  CHECK(filter.unfinished);
  CHECK(filter.id == "01a2");
  CHECK(filter.agent.value == "echo");
  CHECK(filter.caller.value == "ann");
  CHECK(filter.parent.value == 42);
  CHECK(filter.status_until == kNow - std::chrono::seconds(60));
  CHECK(filter.attempts_min == 3);
  CHECK(filter.undelivered);
  CHECK(filter.retried == false);
  CHECK(filter.error == "disk");
}

TEST_CASE("Query: turn=none finds tasks without a turn") {
  const Query::Pairs pairs{{"turn", "none"}};
  Query query(pairs);
  const auto filter = server::operate::read_filter(query, kNow);
  REQUIRE(query.checked());
  CHECK(filter.turns == std::vector{task::TurnState::none});
  CHECK_FALSE(filter.unfinished);
  CHECK_FALSE(filter.retried);
}

TEST_CASE("Query: unknown, repeated and invalid parameters are reported by name") {
  CHECK(problem_of({{"agnet", "x"}}) == "agnet: is unknown; did you mean agent?");
  CHECK(problem_of({{"agent", "a"}, {"agent", "b"}}) == "agent: is given more than once");
  CHECK(problem_of({{"state", "great"}}) == "state: has an unknown state: great");
  CHECK(problem_of({{"parent", "-1"}}) == "parent: must be a numeric key");
  CHECK(problem_of({{"undelivered", "yes"}}).starts_with("undelivered: must be one of"));
  CHECK(problem_of({{"age_min_s", "soon"}}).starts_with("age_min_s: must be a whole number"));
  CHECK(problem_of({}).empty());
}

TEST_CASE("Query: a filter in JSON is equivalent to its parameters") {
  const auto document = json::Document::parse(
      R"({"state":["failed","rejected"],"agent":"echo","age_min_s":60,"undelivered":true})");
  const auto pairs = server::operate::filter_pairs(document->root());
  REQUIRE(pairs);
  CHECK(*pairs == Query::Pairs{{"state", "failed"},
                               {"state", "rejected"},
                               {"agent", "echo"},
                               {"age_min_s", "60"},
                               {"undelivered", "1"}});
}

TEST_CASE("Query: JSON that is not a filter is refused") {
  for (const char* text :
       {"[]", R"({"agnet":"x"})", R"({"agent":{}})", R"({"agent":null})", R"({"limit":1})"}) {
    CAPTURE(text);
    const auto document = json::Document::parse(text);
    CHECK_FALSE(server::operate::filter_pairs(document->root()));
  }
}

TEST_CASE("Query: keys are decimal digits from 1") {
  CHECK(server::operate::key_in("42") == 42);
  for (const char* text : {"", "0", "-1", "+1", "1.0", "0x1", " 1", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(server::operate::key_in(text));
  }
}

}  // namespace query_test
