#include <doctest/doctest.h>

#include "support/follow_script.h"

namespace baton::client::lost_send_test {
namespace {

using namespace follow_script;

FollowPlan send_once_plan() {
  FollowPlan plan;
  plan.dialect = &dialect(task::ProtocolVersion::v0_3);
  plan.first_request = kSend;
  plan.sends_once = true;
  return plan;
}

TEST_CASE("Follow: with sends_once, a message that may have arrived is not sent again") {
  Script script;
  script.connections = {{{}, kLost}};
  const FollowEnd end = script.run(send_once_plan());
  CHECK(end.unknown);
  REQUIRE(end.error.has_value());
  CHECK(end.error->text == "the connection was reset; the message may or may not have arrived");
  CHECK(script.requests.size() == 1);
}

CallError busy_for(std::chrono::seconds time) {
  CallError busy{"HTTP status 503", 0, true, 503};
  busy.unsent = true;
  busy.retry_after = time;
  return busy;
}

TEST_CASE("Follow: a message that the server did not accept is sent again after its retry_after") {
  Script script;
  const CallError busy = busy_for(std::chrono::seconds(7));
  script.connections = {{{}, busy}, {{{0, status("completed")}}, {}}};
  const FollowEnd end = script.run(send_once_plan());
  CHECK_FALSE(end.unknown);
  CHECK(end.state == task::State::completed);
  REQUIRE(script.requests.size() == 2);
  CHECK(script.requests[1].request.body == "SEND");
  CHECK(script.now.time_since_epoch() >= std::chrono::seconds(7));
}

TEST_CASE("Follow: a retry_after that is longer than give_up_after ends it at once") {
  Script script;
  script.connections = {{{}, busy_for(std::chrono::hours(1))}};
  const FollowEnd end = script.run(send_once_plan());
  REQUIRE(end.error.has_value());
  CHECK(end.error->status == 503);
  CHECK_FALSE(end.unknown);
  CHECK(script.now.time_since_epoch() < std::chrono::seconds(1));
}

}  // namespace
}  // namespace baton::client::lost_send_test
