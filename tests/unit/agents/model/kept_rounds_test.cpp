#include "agents/model/kept_rounds.h"

#include <doctest/doctest.h>

#include <string>

namespace baton::agents::kept_rounds_test {

TEST_CASE("KeptRounds: state that was written is read back unchanged") {
  const KeptRounds kept{
      2,
      {{"a", {{"c1", "f", "{\"x\"", {"{\"y\":1}"}, {"{\"z\":2}"}}, {"c2", "g", ""}}, {"{\"w\":3}"}},
       {"", {{"c3", "f", "{}"}}}}};
  const KeptRounds read = read_kept_rounds(state_of(kept).state);
  CHECK(read.breaks == 2);
  REQUIRE(read.rounds.size() == 2);
  CHECK(read.rounds[0].text == "a");
  CHECK(read.rounds[0].calls == kept.rounds[0].calls);
  CHECK(read.rounds[0].others.text == "{\"w\":3}");
  CHECK(read.rounds[1].calls == kept.rounds[1].calls);
}

TEST_CASE("KeptRounds: an empty state reads as no rounds and no breaks") {
  const KeptRounds read = read_kept_rounds({});
  CHECK(read.breaks == 0);
  CHECK(read.rounds.empty());
}

TEST_CASE("KeptRounds: rounds that are too large are left out, and the count of breaks is kept") {
  const KeptRounds kept{1, {{std::string(300'000, 'x'), {}}}};
  const task::ExecutorState state = state_of(kept);
  CHECK(state.state.text.size() < 1'000);
  CHECK(read_kept_rounds(state.state).breaks == 1);
  CHECK(read_kept_rounds(state.state).rounds.empty());
}

}  // namespace baton::agents::kept_rounds_test
