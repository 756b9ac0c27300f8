#include "engine/shared/message_checks.h"

#include <doctest/doctest.h>

namespace message_checks_test {

using namespace baton;

TEST_CASE("check_task_accepts: the refusal of an answer repeats only the beginning of a long id") {
  task::TaskHead head;
  head.state = task::State::input_required;
  head.ask = "q1";
  task::Submission submission;
  submission.ask = "q0";
  const auto refusal = [&] {
    const auto checked = engine::check_task_accepts(submission, head, {});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == base::ErrorCode::conflict);
    return checked.error().for_caller;
  };
  CHECK(refusal() == "the task is no longer waiting for an answer to q0");
  submission.ask = std::string(20'000, 'x');
  CHECK(refusal().size() < 300);
}

}  // namespace message_checks_test
