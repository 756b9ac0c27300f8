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

TEST_CASE("check_task_accepts: an ended task is reopened only by a client of the version that made it") {
  task::TaskHead head;
  head.state = task::State::completed;
  task::Submission submission;
  submission.origin = task::ProtocolVersion::v0_1;
  submission.when_ended = task::WhenEnded::reopen;
  const auto refused = engine::check_task_accepts(submission, head, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::unsupported);
  head.origin = submission.origin;
  CHECK(engine::check_task_accepts(submission, head, {}));
}

}  // namespace message_checks_test
