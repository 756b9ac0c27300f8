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

TEST_CASE("KeptRounds: a round that is too large costs those before it nothing, and breaks are counted") {
  const KeptRounds kept{
      1, {{"first", {}}, {"", {}, {R"({"x":")" + std::string(300'000, 'x') + "\"}"}}, {"last", {}}}};
  const task::ExecutorState state = state_of(kept);
  CHECK(state.state.text.size() < 1'000);
  const KeptRounds read = read_kept_rounds(state.state);
  CHECK(read.breaks == 1);
  REQUIRE(read.rounds.size() == 1);
  CHECK(read.rounds.front().text == "first");
}

TEST_CASE("KeptRounds: what is nested as deep as an answer may be is read back") {
  const auto levels = static_cast<std::size_t>(protocol::models::kDepthMax - 1);
  const std::string deep = R"({"x":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
  const KeptRounds kept{0, {{"a", {{"c", "f", "{}", {deep}, {deep}}}, {deep}}}};
  const KeptRounds read = read_kept_rounds(state_of(kept).state);
  REQUIRE(read.rounds.size() == 1);
  CHECK(read.rounds.front().calls == kept.rounds.front().calls);
  CHECK(read.rounds.front().others.text == deep);
}

}  // namespace baton::agents::kept_rounds_test
