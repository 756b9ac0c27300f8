// Script: a fake server with prepared answers, for tests of client::follow.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/follow.h"

namespace baton::client::follow_script {

using std::chrono::milliseconds;

struct Block {
  std::int64_t number;
  std::string result;
};

inline const protocol::a2a::ClientDialect& dialect(task::ProtocolVersion version) {
  static std::map<task::ProtocolVersion, protocol::a2a::ClientDialectPtr> all;
  auto& dialect = all[version];
  if (!dialect) dialect = protocol::a2a::client_dialect(version, protocol::Binding::json_rpc);
  return *dialect;
}

// The blocks that one connection delivers, and how it ends.
struct Connection {
  std::vector<Block> blocks;
  std::optional<CallError> error;
  std::int64_t last_number = 0;  // of the blocks without an event
  milliseconds lasts{10};
};

inline const CallError kLost{"the connection was reset", 0, true};
inline const CallError kNotFound{"Task not found", protocol::a2a::kTaskNotFound, false};

inline std::string status(std::string_view state, std::string_view more = "") {
  return R"({"id":"t","status":{"state":")" + std::string(state) + R"("})" + std::string(more) + "}";
}
inline std::string chunk(std::string_view text) {
  return R"({"id":"t","artifact":{"parts":[{"type":"text","text":")" + std::string(text) + R"("}]}})";
}

// Answers with the prepared connections, in order. The clock advances when follow waits, and by each
// connection's duration.
struct Script {
  std::deque<Connection> connections;
  std::vector<StreamRequest> requests;
  std::vector<std::string> events;
  std::string task_now;  // read_task returns it; if empty, read_task fails with "not found"
  int troubles = 0;
  bool stop_on_wait = false;
  std::chrono::steady_clock::time_point now{};

  FollowEnd run(const FollowPlan& plan) {
    FollowWorld world;
    world.open = [&](const StreamRequest& request, const OnStreamEvent& on_event) {
      requests.push_back(request);
      if (connections.empty()) return StreamEnd{kLost, 0, false};
      const Connection connection = connections.front();
      connections.pop_front();
      now += connection.lasts;
      StreamEnd end{connection.error, connection.last_number, true};
      for (const Block& block : connection.blocks) {
        end.last_number = std::max(end.last_number, block.number);
        if (!on_event(block.number, block.result)) return StreamEnd{{}, end.last_number, true};
      }
      return end;
    };
    world.now = [&] { return now; };
    world.wait = [&](milliseconds time) {
      now += time;
      return stop_on_wait && time.count() > 0;
    };
    world.on_event = [&](std::string_view result, const protocol::a2a::Update&) {
      events.emplace_back(result);
    };
    world.read_task = [&](const task::TaskId& task) -> tl::expected<task::Json, CallError> {
      CHECK(task.value == "t");
      if (task_now.empty()) return tl::unexpected(kNotFound);
      return task::Json{task_now};
    };
    world.on_trouble = [&](const std::string&) { ++troubles; };
    return follow(plan, world);
  }
};

inline const protocol::a2a::ClientRequest kSend{"POST", "", "SEND"};

inline FollowPlan send_plan() {
  FollowPlan plan;
  plan.dialect = &dialect(task::ProtocolVersion::v0_1);
  plan.task.value = "t";
  plan.first_request = kSend;
  plan.may_send_again = true;
  plan.until_waiting = true;
  return plan;
}

inline FollowPlan watch_plan(std::optional<std::int64_t> after = {}) {
  FollowPlan plan;
  plan.dialect = &dialect(task::ProtocolVersion::v0_1);
  plan.task.value = "t";
  plan.after = after;
  return plan;
}

}  // namespace baton::client::follow_script
