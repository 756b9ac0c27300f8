#include "client/follow.h"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

namespace baton::client::plain_send_test {
namespace {

using std::chrono::milliseconds;
using Answer = tl::expected<task::Json, CallError>;

const Answer kLost = tl::unexpected(CallError{"the connection was reset", 0, true});
const Answer kRefused = tl::unexpected(CallError{"no", -32600, false});
const Answer kDone = task::Json{R"({"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}})"};

// A server with prepared answers, and a clock that moves only during waits.
struct Script {
  std::deque<Answer> answers;
  int sent = 0;
  int troubles = 0;
  int events = 0;
  bool stop_on_wait = false;
  std::chrono::steady_clock::time_point now{};

  FollowEnd run(task::ProtocolVersion version) {
    const auto dialect = protocol::a2a::client_dialect(version, protocol::Binding::json_rpc);
    FollowPlan plan;
    plan.dialect = dialect.get();
    plan.first_request.emplace();
    FollowWorld world;
    world.send = [&](const protocol::a2a::ClientRequest&) {
      ++sent;
      if (answers.empty()) return kLost;
      const Answer answer = answers.front();
      answers.pop_front();
      return answer;
    };
    world.now = [&] { return now; };
    world.wait = [&](milliseconds time) {
      now += time;
      return stop_on_wait && time.count() > 0;
    };
    world.on_event = [&](std::string_view, const protocol::a2a::Update&) { ++events; };
    world.on_trouble = [&](const std::string&) { ++troubles; };
    return send_plain(plan, world);
  }
};

TEST_CASE("Plain send: after a lost answer the same message is sent again, and the answer is reported once") {
  Script script{{kLost, kLost, kDone}};
  const FollowEnd end = script.run(task::ProtocolVersion::v0_3);
  CHECK_FALSE(end.error.has_value());
  CHECK(end.state == task::State::completed);
  CHECK(end.task.value == "t");
  CHECK(script.sent == 3);
  CHECK(script.troubles == 1);
  CHECK(script.events == 1);
}

TEST_CASE("Plain send: a 0.1 message, which has no id, and a refused message are sent once") {
  Script old{{kLost, kDone}};
  CHECK(old.run(task::ProtocolVersion::v0_1).error.has_value());
  CHECK(old.sent == 1);
  Script refused{{kRefused, kDone}};
  CHECK(refused.run(task::ProtocolVersion::v0_3).error->rpc_code == -32600);
  CHECK(refused.sent == 1);
}

TEST_CASE("Plain send: it ends after the time to give up, or when it is stopped") {
  Script silent;
  const FollowEnd end = silent.run(task::ProtocolVersion::v1_0);
  CHECK(end.error->lost);
  CHECK(silent.now.time_since_epoch() < FollowPlan().give_up_after);
  CHECK(silent.sent > 10);
  CallError busy{"HTTP status 503", 0, true, 503, true, std::chrono::hours(1)};
  Script asking{{tl::unexpected(busy), kDone}};
  CHECK(asking.run(task::ProtocolVersion::v1_0).error->status == 503);
  CHECK(asking.now.time_since_epoch().count() == 0);
  Script stopped;
  stopped.stop_on_wait = true;
  CHECK(stopped.run(task::ProtocolVersion::v1_0).stopped);
  CHECK(stopped.sent == 1);
}

}  // namespace
}  // namespace baton::client::plain_send_test
