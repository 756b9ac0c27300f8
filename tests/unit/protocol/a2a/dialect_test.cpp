#include "protocol/a2a/dialect.h"

#include <doctest/doctest.h>

#include "unit/protocol/a2a/dialect_bench.h"

namespace dialect_test {

using namespace baton;
using protocol::a2a::dialect_of;
using test::shown;

namespace {

const protocol::a2a::Dialect* const kAll[] = {&protocol::a2a::v0_1(), &protocol::a2a::v0_3(),
                                              &protocol::a2a::v0_3_rest(), &protocol::a2a::v1_0()};

}  // namespace

TEST_CASE("A2A dialects: a task that another protocol began uses the dialect of 1.0") {
  CHECK(&dialect_of(task::ProtocolVersion::none) == &protocol::a2a::v1_0());
}

TEST_CASE("A2A dialects: events for chat protocols only are shown in no version") {
  for (const protocol::a2a::Dialect* dialect : kAll) {
    CHECK(shown(*dialect, {{1}, {}, task::ReasoningDelta{{"s"}, "hm", true, false}}).empty());
    CHECK(shown(*dialect, {{1}, {}, task::Activity{"a", "PLAN", {"{}"}, {}}}).empty());
    CHECK(
        shown(*dialect, {{1}, {}, task::Subagent{"t2", "echo", task::Subagent::Phase::started, {}}}).empty());
    CHECK(shown(*dialect, {{1}, {}, task::Usage{{"{}"}}}).empty());
    CHECK(shown(*dialect, {{1}, {}, task::StateDelta{{"[]"}}}).empty());
    CHECK(shown(*dialect, {{1}, {}, task::Custom{"n", {"1"}}}).empty());
  }
}

TEST_CASE("A2A dialects: a question's id is not shown") {
  task::StatusChanged asking{{task::State::input_required, std::nullopt, {}}, {}};
  for (const protocol::a2a::Dialect* dialect : kAll) {
    asking.ask.clear();
    const std::string without = shown(*dialect, {{1}, {}, asking});
    asking.ask = "ask-1";
    CHECK(shown(*dialect, {{1}, {}, asking}) == without);
    CHECK_FALSE(without.empty());
  }
}

}  // namespace dialect_test
