// TurnOutput: what one turn's agent says in the line protocol, told to the turn's sink.
//
// Threads: the host's only.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "agents/executor.h"
#include "agents/settings.h"
#include "agents/sink_gate.h"
#include "wire/line/from_agent.h"

namespace baton::agents {

class TurnOutput {
 public:
  // `gate` must outlive this.
  TurnOutput(const Turn& turn, const AgentSettings& settings, SinkGate& gate);

  // Counts a line's bytes against what a turn may print. False: that was too much, and the turn has failed.
  bool count(std::size_t bytes);
  void take(wire::line::AgentMessage message);

  void fail(std::string error) { finish(Failed{std::move(error)}); }
  // The first end counts. After a cancel anything but Done and Asked means: it stopped.
  void finish(Outcome outcome);
  void canceling() { canceling_ = true; }

  bool ended() const { return ended_; }

 private:
  void take_one(wire::line::Text text);
  void take_one(task::EventBody body);
  void take_one(wire::line::Delegate delegate);
  void take_one(wire::line::Ask ask);
  void take_one(wire::line::Auth auth);
  void take_one(wire::line::Done done);
  void take_one(wire::line::Fail fail);
  void take_one(wire::line::Reject reject);
  void call_client(task::ToolCall call);

  SinkGate& gate_;
  const std::uint64_t output_max_;
  std::set<std::string, std::less<>> client_tools_;
  std::uint64_t printed_ = 0;
  bool canceling_ = false;
  bool ended_ = false;
};

// The end of a turn whose agent printed `line`, for which decoding gave `error`.
std::string refusal(const base::Error& error, std::string_view line);

// "the agent printed a line longer than ...".
std::string line_too_long(const AgentSettings& settings);

// The line that tells an agent of its turn, and the lines with the results of client tools that follow it.
std::string turn_lines(const Turn& turn);

}  // namespace baton::agents
