// Writes the lines from Baton to an agent (agent-cards/README.md). Each is one JSON object with a line end.
//
// Messages, parts and artifacts are in the JSON shape of A2A 1.0. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "task/event.h"
#include "task/task.h"

namespace baton::agents::line {

// The version of the line protocol that Baton speaks.
inline constexpr int kProtocol = 1;

// What came of a `delegate` line. The strings must stay valid.
struct DelegateOutcome {
  std::string_view id;
  const task::Task* task = nullptr;  // null: there is no child, and `error` says why
  std::string_view error;
};

// What an agent is told when its turn begins. The references must stay valid until encode_turn returns.
struct TurnFacts {
  std::string_view turn;
  int attempt = 1;
  const task::AgentName& agent;
  const task::TaskId& task;
  const task::ContextId& context;
  task::State state = task::State::working;
  const task::Json& task_metadata;
  const task::Message& message;
  const std::vector<task::Message>& history;
  const std::vector<task::Artifact>& artifacts;
  const std::vector<task::Task>& references;  // left out when there are none
  const task::Json& tools;
  const task::Json& client_state;
  const task::Json& metadata;
  const std::vector<std::string>& extensions;  // left out when there are none
  std::string_view resume_ask;
  const std::vector<DelegateOutcome>& results;
  std::string_view trace;
};

std::string encode_turn(const TurnFacts& facts);
std::string encode_cancel(std::string_view turn);
std::string encode_tool_result(std::string_view turn, const task::ToolResult& result);
std::string encode_delegate_result(std::string_view turn, const DelegateOutcome& outcome);

}  // namespace baton::agents::line
