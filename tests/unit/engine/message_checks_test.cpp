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

TEST_CASE("any_mode_matches: media types match without case and parameters, and ranges have their types") {
  const std::vector<std::string> offered{"text/plain", "Application/JSON; charset=utf-8"};
  for (const char* mode :
       {"text", "Text/Plain;charset=utf-8", "text/*", "*/*", "application/json", "TEXT/*;q=0.5"}) {
    CAPTURE(mode);
    CHECK(engine::any_mode_matches({"image/png", mode}, offered));
  }
  for (const char* mode : {"image/png", "image/*", "text/html", "text/", "tex*", "application/*+json", ""}) {
    CAPTURE(mode);
    CHECK_FALSE(engine::any_mode_matches({mode}, offered));
  }
  CHECK(engine::any_mode_matches({"image/png"}, {"image/*"}));
  CHECK(engine::any_mode_matches({}, offered));
  CHECK(engine::any_mode_matches({"image/png"}, {}));
}

}  // namespace message_checks_test
