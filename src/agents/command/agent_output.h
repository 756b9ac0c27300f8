// AgentOutput: checks the messages that one turn's agent sends in the line protocol, and passes them to
// the turn's sink.
//
// Threads: the host's only.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "agents/call_ids.h"
#include "agents/command/from_agent.h"
#include "agents/executor.h"
#include "agents/settings.h"
#include "agents/sink_gate.h"
#include "agents/unfinished_steps.h"
#include "base/log.h"

namespace baton::agents {

class AgentOutput {
 public:
  // `gate` must outlive this.
  AgentOutput(const Turn& turn, const AgentSettings& settings, SinkGate& gate);

  // Counts bytes that the agent has printed against the turn's limit. If they exceed it, fails the turn and
  // returns false.
  bool count(std::size_t bytes);
  // Passes a message on. If it is not allowed now, fails the turn and returns false.
  bool forward(line::AgentMessage message);

  void fail(std::string error) { finish(Failed{std::move(error)}); }
  // Ends the turn; only the first call counts. First closes what the agent left open. After a cancel, any
  // outcome but Done and Asked becomes Canceled.
  void finish(Outcome outcome);
  void canceling() { canceling_ = true; }
  // `errors` returns what the agent has written to standard error in this turn. It is logged if the turn
  // fails.
  void set_errors(std::function<std::string()> errors) { errors_ = std::move(errors); }

  bool ended() const { return ended_; }
  // Whether the agent has sent any output.
  bool spoke() const { return printed_ > 0; }

 private:
  bool forward_one(line::Text text);
  bool forward_one(line::Reasoning reasoning);
  bool forward_one(task::EventBody body);
  bool forward_one(line::Delegate delegate);
  bool forward_one(line::Wait);
  bool forward_one(line::Ask ask);
  bool forward_one(line::Auth auth);
  bool forward_one(line::Finish done);
  bool forward_one(line::Fail fail);
  bool forward_one(line::Reject reject);
  bool end(Outcome outcome);
  std::string id_of_ask(const std::string& own);
  void call_client(task::ToolCall call);

  SinkGate& gate_;
  const std::uint64_t output_max_;
  const bool verbose_;
  std::set<std::string, std::less<>> client_tools_;
  UnfinishedSteps open_;
  CallIds call_ids_;
  std::function<std::string()> errors_;
  std::uint64_t printed_ = 0;
  bool canceling_ = false;
  bool ended_ = false;
};

// The caller's error for a turn whose agent printed `line`, which failed to decode with `error`. The line
// itself may contain anything: it is shown only with verbose errors, and otherwise logged with `members`.
std::string refusal(const AgentSettings& settings, const base::LogMembers& members, const base::Error& error,
                    std::string_view line);

// "the agent did not say anything within ...".
std::string said_nothing(const AgentSettings& settings);

// "the agent printed a line longer than ...".
std::string line_too_long(const AgentSettings& settings);

// The line that gives an agent its turn, followed by lines with the results of client tools.
std::string turn_lines(const Turn& turn);

}  // namespace baton::agents
