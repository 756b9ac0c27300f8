#include <doctest/doctest.h>

#include <string>

#include "support/follow_script.h"

namespace baton::client::follow_test {
namespace {

using namespace follow_script;

TEST_CASE("Follow: a stream that reaches its end needs one connection") {
  Script script;
  script.connections = {
      {{{1, status("working")}, {2, chunk("a")}, {3, status("completed", R"(,"final":true)")}}, {}}};
  const FollowEnd end = script.run(send_plan());
  CHECK(end.state == task::State::completed);
  CHECK_FALSE(end.error.has_value());
  CHECK(end.last_number == 3);
  CHECK(script.events.size() == 3);
  REQUIRE(script.requests.size() == 1);
  CHECK(script.requests[0].request.body == "SEND");
  CHECK(script.requests[0].after == 0);  // 0.1 sends event numbers only on request
  CHECK(script.troubles == 0);
}

TEST_CASE("Follow: after a lost connection the stream resumes behind the last number, without repeats") {
  Script script;
  script.connections = {
      {{{1, status("working")}, {2, chunk("a")}}, kLost},
      {{}, kLost},
      {{{2, chunk("a")}, {3, chunk("b")}}, {}},
      {{{4, chunk("b")}, {5, status("completed")}}, {}},
  };
  const FollowEnd end = script.run(send_plan());
  CHECK(end.state == task::State::completed);
  CHECK(script.events ==
        std::vector<std::string>{status("working"), chunk("a"), chunk("b"), chunk("b"), status("completed")});
  REQUIRE(script.requests.size() == 4);
  CHECK(script.requests[1].request.body.find("tasks/resubscribe") != std::string::npos);
  CHECK(script.requests[1].after == 2);
  CHECK(script.requests[2].after == 2);
  CHECK(script.requests[3].after == 3);
  CHECK(script.troubles == 2);
}

TEST_CASE("Follow: numbers without an event count too") {
  Script script;
  script.connections = {{{{1, status("working")}}, kLost, 7}, {{{8, status("completed")}}, {}}};
  CHECK(script.run(send_plan()).state == task::State::completed);
  REQUIRE(script.requests.size() == 2);
  CHECK(script.requests[1].after == 7);
}

TEST_CASE("Follow: after a lost send a new task is followed from its start, or sent again if unknown") {
  Script found;
  found.connections = {{{}, kLost}, {{{1, status("working")}, {2, status("completed")}}, {}}};
  CHECK(found.run(send_plan()).state == task::State::completed);
  REQUIRE(found.requests.size() == 2);
  CHECK(found.requests[1].after == 0);

  Script unknown;
  unknown.connections = {{{}, kLost}, {{}, kNotFound}, {{{1, status("completed")}}, {}}};
  CHECK(unknown.run(send_plan()).state == task::State::completed);
  REQUIRE(unknown.requests.size() == 3);
  CHECK(unknown.requests[2].request.body == "SEND");
}

TEST_CASE("Follow: a lost message to an existing task is not sent again") {
  Script script;
  script.connections = {{{}, kLost}};
  FollowPlan plan = send_plan();
  plan.may_send_again = false;
  const FollowEnd end = script.run(plan);
  REQUIRE(end.error.has_value());
  CHECK(end.error->text.find("may or may not have arrived") != std::string::npos);
  CHECK(script.requests.size() == 1);
}

TEST_CASE("Follow: an error of the protocol ends it at once") {
  Script script;
  script.connections = {{{}, CallError{"Invalid parameters", -32602, false}}};
  const FollowEnd end = script.run(send_plan());
  REQUIRE(end.error.has_value());
  CHECK(end.error->rpc_code == -32602);
  CHECK(script.requests.size() == 1);

  Script unknown;
  unknown.connections = {{{}, kNotFound}};
  const FollowEnd watched = unknown.run(watch_plan());
  REQUIRE(watched.error.has_value());
  CHECK(watched.error->rpc_code == protocol::a2a::kTaskNotFound);
  CHECK(unknown.requests.size() == 1);
}

TEST_CASE("Follow: a server that never answered is given up soon, one that did later") {
  Script never;
  const FollowEnd end = never.run(send_plan());
  REQUIRE(end.error.has_value());
  CHECK(end.error->lost);
  CHECK(never.now.time_since_epoch() < std::chrono::seconds(6));

  Script met;
  FollowPlan plan = send_plan();
  plan.is_met = true;
  CHECK(met.run(plan).error->lost);
  CHECK(met.now.time_since_epoch() > std::chrono::seconds(50));

  Script once;
  once.connections = {{{{1, status("working")}}, kLost}};
  const FollowEnd later = once.run(send_plan());
  REQUIRE(later.error.has_value());
  CHECK(later.last_number == 1);
  CHECK(once.now.time_since_epoch() > std::chrono::seconds(50));
  CHECK(once.now.time_since_epoch() < std::chrono::seconds(61));
}

TEST_CASE("Follow: a new event restarts the time to give up") {
  Script script;
  for (int number = 1; number <= 20; ++number) {
    script.connections.push_back({{{number, chunk("x")}}, kLost, 0, milliseconds(30'000)});
  }
  script.connections.push_back({{{21, status("completed")}}, {}});
  CHECK(script.run(send_plan()).state == task::State::completed);
  CHECK(script.events.size() == 21);
}

TEST_CASE("Follow: a server that closes every stream at once is given up too") {
  Script script;
  script.connections = {{{{1, status("working")}}, {}}};
  script.connections.resize(1000);
  const FollowEnd end = script.run(send_plan());
  REQUIRE(end.error.has_value());
  CHECK(end.error->text.find("closed before the task") != std::string::npos);
  CHECK(script.now.time_since_epoch() < std::chrono::seconds(62));
}

TEST_CASE("Follow: a send ends when the task waits, a watch does not") {
  const std::string waits = status("input-required", R"(,"final":true)");
  Script send;
  send.connections = {{{{1, status("working")}, {2, waits}, {3, chunk("late")}}, {}}};
  CHECK(send.run(send_plan()).state == task::State::input_required);
  CHECK(send.events.size() == 2);

  Script watch;
  watch.connections = {{{{1, waits}, {2, status("working")}, {3, status("completed")}}, {}}};
  CHECK(watch.run(watch_plan(0)).state == task::State::completed);
  CHECK(watch.events.size() == 3);
}

TEST_CASE("Follow: a watch ends if the server keeps closing the stream of a waiting task") {
  const std::string waits = status("input-required", R"(,"final":true)");
  Script script;
  script.connections = {{{{1, waits}}, {}}, {{}, {}}};
  const FollowEnd end = script.run(watch_plan(0));
  CHECK(end.state == task::State::input_required);
  CHECK_FALSE(end.error.has_value());
  CHECK(script.requests.size() == 2);

  Script restarted;
  restarted.connections = {{{{1, waits}}, {}, 0, milliseconds(60'000)},
                           {{}, {}, 0, milliseconds(60'000)},
                           {{{2, status("completed")}}, {}}};
  CHECK(restarted.run(watch_plan(0)).state == task::State::completed);
}

TEST_CASE("Follow: a watch reads past the earlier end of a task that was reopened") {
  Script script;
  script.connections = {{{{1, status("completed")}, {2, status("working")}, {3, status("failed")}}, {}}};
  CHECK(script.run(watch_plan(0)).state == task::State::failed);
  CHECK(script.events.size() == 3);
}

TEST_CASE("Follow: the state on subscribing is shown again only if it has changed") {
  const std::string now = R"({"id":"t","sessionId":"s","status":{"state":"working"}})";
  const std::string later = R"({"id":"t","sessionId":"s","status":{"state":"completed"}})";
  Script script;
  script.connections = {{{{0, now}}, kLost}, {{{0, now}}, kLost}, {{{0, later}}, {}}};
  CHECK(script.run(watch_plan()).state == task::State::completed);
  CHECK(script.events == std::vector<std::string>{now, later});
  for (const StreamRequest& request : script.requests) CHECK_FALSE(request.after.has_value());
}

TEST_CASE("Follow: equal events of a server without numbers are all shown") {
  Script script;
  script.connections = {{{{0, chunk("ha")}, {0, chunk("ha")}, {0, status("completed")}}, {}}};
  CHECK(script.run(send_plan()).state == task::State::completed);
  CHECK(script.events.size() == 3);
}

TEST_CASE("Follow: different events with the same number are all shown") {
  Script script;
  script.connections = {{{{1000, status("working")}, {1000, chunk("a")}, {1000, chunk("b")}}, kLost},
                        {{{1000, chunk("b")}, {1001, chunk("c")}, {1001, status("completed")}}, {}}};
  CHECK(script.run(send_plan()).state == task::State::completed);
  CHECK(script.events ==
        std::vector<std::string>{status("working"), chunk("a"), chunk("b"), chunk("c"), status("completed")});
}

TEST_CASE("Follow: being stopped is neither an end nor an error") {
  Script script;
  script.connections = {{{{1, status("working")}}, kLost}};
  script.stop_on_wait = true;
  const FollowEnd end = script.run(send_plan());
  CHECK(end.stopped);
  CHECK_FALSE(end.error.has_value());
  CHECK(end.last_number == 1);
  CHECK(script.requests.size() == 1);
}

TEST_CASE("Follow: an invalid event is an error and ends the stream") {
  Script script;
  script.connections = {{{{1, R"({"id":"t"})"}}, {}}};
  const FollowEnd end = script.run(send_plan());
  REQUIRE(end.error.has_value());
  CHECK(end.error->text.find("invalid") != std::string::npos);
  CHECK(script.requests.size() == 1);
}

// Sends a new task in 1.0, where the server chooses the id.
FollowPlan new_send_plan() {
  FollowPlan plan;
  plan.dialect = &dialect(task::ProtocolVersion::v1_0);
  plan.first_request = kSend;
  plan.may_send_again = true;
  plan.until_waiting = true;
  return plan;
}

std::string new_task(std::string_view state) {
  return R"({"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_)" + std::string(state) +
         R"("}}})";
}
std::string new_status(std::string_view state) {
  return R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_)" +
         std::string(state) + R"("}}})";
}

TEST_CASE("Follow: after a loss a new task is subscribed to by the id that the server chose") {
  Script script;
  script.connections = {{{{0, new_task("SUBMITTED")}, {3, new_status("WORKING")}}, kLost},
                        {{{4, new_status("COMPLETED")}}, {}}};
  const FollowEnd end = script.run(new_send_plan());
  CHECK(end.state == task::State::completed);
  CHECK(end.task.value == "t");
  REQUIRE(script.requests.size() == 2);
  CHECK(script.requests[1].request.body.find(R"("SubscribeToTask","params":{"id":"t"})") !=
        std::string::npos);
  CHECK(script.requests[1].after == 3);
}

TEST_CASE("Follow: a message with an id is sent again until it is answered, for new and for old tasks") {
  for (const bool is_new : {true, false}) {
    Script script;
    script.connections = {{{}, kLost}, {{}, kLost}, {{{0, new_task("COMPLETED")}}, {}}};
    FollowPlan plan = new_send_plan();
    plan.may_send_again = is_new;
    CHECK(script.run(plan).state == task::State::completed);
    REQUIRE(script.requests.size() == 3);
    for (const StreamRequest& request : script.requests) CHECK(request.request.body == "SEND");
  }
}

TEST_CASE("Follow: a message instead of a task ends the send") {
  Script script;
  script.connections = {
      {{{0, R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}})"}}, {}}};
  const FollowEnd end = script.run(new_send_plan());
  CHECK(end.state == task::State::completed);
  CHECK(end.task.empty());
  CHECK_FALSE(end.error.has_value());
  CHECK(script.requests.size() == 1);
}

TEST_CASE("Follow: a message ends a send when its stream does, but not among the states of a task") {
  const std::string piece = R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}})";
  const std::string empty = R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}})";
  const std::string works = new_status("WORKING"), done = new_status("COMPLETED");
  struct Row {
    std::vector<std::string> stream;
    std::optional<CallError> error;
    std::size_t events;
    bool completes;
    std::size_t requests = 1;
  };
  const std::vector<Row> table{
      {{piece, piece, piece}, {}, 3, true},
      {{works, piece, piece, works, piece, done}, {}, 6, true},
      {{works, piece}, {}, 2, true},  // as with a2a-python, where a message ends the stream
      {{piece}, kLost, 1, true},      // a message is whole by A2A
      {{empty}, kLost, 1, false},
      {{piece, piece}, kLost, 2, false},        // no task that could be asked for the rest
      {{works, piece, piece}, {}, 4, true, 2},  // broken off: the next connection shows the end
      {{works, piece, piece}, kLost, 4, true, 2},
  };
  for (const Row& row : table) {
    CAPTURE(&row - table.data());
    Script script;
    script.connections = {{{}, row.error}, {{{0, done}}, {}}};
    for (const std::string& event : row.stream) script.connections[0].blocks.push_back({0, event});
    const FollowEnd end = script.run(new_send_plan());
    CHECK(script.events.size() == row.events);
    CHECK((end.state == task::State::completed && !end.error) == row.completes);
    CHECK(script.requests.size() == row.requests);
  }
}

TEST_CASE("Follow: if an ended task has no stream, the task itself is shown") {
  const CallError ended{"This operation is not supported", protocol::a2a::kUnsupportedOperation, false};
  FollowPlan plan = watch_plan();
  plan.dialect = &dialect(task::ProtocolVersion::v1_0);
  Script script;
  script.connections = {{{}, ended}};
  script.task_now = R"({"id":"t","status":{"state":"TASK_STATE_FAILED"}})";
  const FollowEnd end = script.run(plan);
  CHECK(end.state == task::State::failed);
  CHECK_FALSE(end.error.has_value());
  CHECK(script.events == std::vector<std::string>{script.task_now});

  Script running;
  running.connections = {{{}, ended}};
  running.task_now = R"({"id":"t","status":{"state":"TASK_STATE_WORKING"}})";
  CHECK(running.run(plan).error->rpc_code == protocol::a2a::kUnsupportedOperation);
}

TEST_CASE("Follow: any refusal of a subscription is followed by a look at the task until it has stopped") {
  const CallError html{"HTTP status 404", 0, false, 404}, proxy{"HTTP status 524", 0, true, 524},
      internal{"Internal error", -32603, false};
  for (const CallError& refused : {html, proxy, internal}) {
    CAPTURE(refused.text);
    FollowPlan plan = watch_plan();
    plan.dialect = &dialect(task::ProtocolVersion::v1_0);
    plan.until_waiting = true;
    Script script;
    script.connections = {{{}, refused}};
    script.task_now = R"({"id":"t","status":{"state":"TASK_STATE_COMPLETED"}})";
    const FollowEnd end = script.run(plan);
    CHECK(end.state == task::State::completed);
    CHECK_FALSE(end.error.has_value());
  }
}

TEST_CASE("Follow: a stream that is not implemented ends a send only if there is another way to send") {
  for (const bool has_other_way : {true, false}) {
    FollowPlan plan = new_send_plan();
    plan.sends_once = true;
    plan.has_other_way = has_other_way;
    Script script;
    script.connections = {{{}, CallError{"HTTP status 501", 0, true, 501}}};
    const FollowEnd end = script.run(plan);
    CHECK(script.requests.size() == 1);
    CHECK(end.unknown == !has_other_way);
    CHECK(end.error.value().status == (has_other_way ? 501 : 0));
  }
}

TEST_CASE("Follow: after an error in the stream of a send the task decides, if it has stopped") {
  const std::pair<std::string, bool> rows[] = {{"COMPLETED", true}, {"WORKING", false}, {"", false}};
  for (const auto& [now, is_over] : rows) {
    CAPTURE(now);
    Script script;
    script.connections = {{{{0, new_task("WORKING")}}, CallError{"stream timeout", -32603, false}}};
    if (!now.empty()) script.task_now = R"({"id":"t","status":{"state":"TASK_STATE_)" + now + R"("}})";
    const FollowEnd end = script.run(new_send_plan());
    CHECK((end.state == task::State::completed) == is_over);
    CHECK((end.error ? end.error->rpc_code : 0) == (is_over ? 0 : -32603));
    CHECK(script.requests.size() == 1);
  }
}

TEST_CASE("Follow: an invalid event of a subscription, or an invalid task, is followed by another look") {
  const Connection invalid{{{0, R"({"id":"t"})"}}, {}};
  FollowPlan plan = watch_plan();
  plan.dialect = &dialect(task::ProtocolVersion::v1_0);
  plan.until_waiting = true;
  Script event;
  event.connections = {invalid};
  event.task_now = R"({"id":"t","status":{"state":"TASK_STATE_COMPLETED"}})";
  const FollowEnd end = event.run(plan);
  CHECK(end.state == task::State::completed);
  CHECK_FALSE(end.error.has_value());

  Script both;
  both.connections = {invalid, {{{0, new_status("COMPLETED")}}, {}}};
  both.task_now = R"({"id":"t"})";
  CHECK(both.run(plan).state == task::State::completed);
  CHECK(both.requests.size() == 2);

  Script ever;
  ever.connections.assign(100, invalid);
  ever.task_now = R"({"id":"t"})";
  CHECK(ever.run(plan).error.value().text.starts_with("the stream contained an invalid event"));
}

}  // namespace
}  // namespace baton::client::follow_test
