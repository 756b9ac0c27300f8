// CommandTurn: one turn of a command executor on the ProcessHost's thread, and the Execution that controls
// it from outside.
//
// Threads: all methods on the host's thread only, except the gate's.
// Ownership: shared by the Execution, callbacks posted to the host, and the turn's process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agents/command/from_agent.h"
#include "agents/executor.h"
#include "agents/sink_gate.h"

namespace baton::agents {

class Process;
class ProcessHost;

class CommandTurn {
 public:
  explicit CommandTurn(std::shared_ptr<SinkGate> gate) : gate_(std::move(gate)) {}
  virtual ~CommandTurn() = default;

  virtual void begin() = 0;
  virtual void cancel() = 0;
  virtual void deliver(const DelegateResult& result) = 0;
  // The engine has dropped the turn: its gate is closed, and its process must end.
  virtual void abandon() = 0;

  SinkGate& gate() { return *gate_; }

 protected:
  const std::shared_ptr<SinkGate>& shared_gate() const { return gate_; }

 private:
  const std::shared_ptr<SinkGate> gate_;  // shared with a turn that takes over this one's process
};

// Call after a turn's own process has printed: releases the held output, and pauses the process until the
// turn's sink has room.
void pause_unless_ready(ProcessHost& host, const std::shared_ptr<Process>& process, SinkGate& gate);

// Longer lines are decoded apart, so that other turns do not wait.
inline constexpr std::size_t kDecodedHere = 256 << 10;
// Decodes a line on the host's pool. Holds the process's output until `then` has been called with the line,
// on the host's thread.
void decode_apart(ProcessHost& host, std::shared_ptr<Process> process, std::string line,
                  std::function<void(std::string_view, line::Decoded)> then);

// Posts `begin` to the host and returns the turn's handle.
std::unique_ptr<Execution> run_turn(ProcessHost& host, std::shared_ptr<CommandTurn> turn);

}  // namespace baton::agents
