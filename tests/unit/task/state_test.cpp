#include "task/state.h"

#include <doctest/doctest.h>

namespace state_test {

using namespace baton::task;

namespace {
constexpr State kAll[]{State::submitted, State::working,  State::input_required, State::auth_required,
                       State::completed, State::canceled, State::failed,         State::rejected};
}

TEST_CASE("State: nothing follows a terminal state") {
  for (const State from : kAll) {
    if (!is_terminal(from)) continue;
    for (const State to : kAll) CHECK_FALSE(may_move(from, to));
  }
}

TEST_CASE("State: every state that is not terminal may change to each terminal one") {
  for (const State from : kAll) {
    if (is_terminal(from)) continue;
    for (const State to : kAll) {
      if (is_terminal(to)) CHECK(may_move(from, to));
    }
  }
}

TEST_CASE("State: a waiting task continues only when new work is submitted") {
  CHECK(may_move(State::input_required, State::submitted));
  CHECK(may_move(State::auth_required, State::submitted));
  CHECK_FALSE(may_move(State::input_required, State::input_required));
  CHECK_FALSE(may_move(State::submitted, State::submitted));
}

TEST_CASE("State: every name is read back as its state") {
  for (const State state : kAll) CHECK(state_named(name_of(state)) == state);
  CHECK_FALSE(state_named("unknown"));
}

}  // namespace state_test
