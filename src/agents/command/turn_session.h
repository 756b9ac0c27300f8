// TurnSession: one turn of a command executor, on the ProcessHost's thread; and the RunningTurn that stands
// for it outside.
//
// Threads: all methods on the host's thread only, except the gate's.
// Ownership: shared by the RunningTurn, by what is posted to the host, and by the process that works for it.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/sink_gate.h"

namespace baton::agents {

class Process;
class ProcessHost;

class TurnSession {
 public:
  explicit TurnSession(std::shared_ptr<TurnSink> sink) : gate_(std::move(sink)) {}
  virtual ~TurnSession() = default;

  virtual void begin() = 0;
  virtual void cancel() = 0;
  virtual void deliver(const DelegateResult& result) = 0;
  // The engine has dropped the turn: its gate is closed, what still runs for it must end.
  virtual void abandon() = 0;

  SinkGate& gate() { return gate_; }

 private:
  SinkGate gate_;
};

// After what a process that works for one turn has printed: releases it, and lets the process print no more
// until the turn's sink has room.
void pause_unless_ready(ProcessHost& host, const std::shared_ptr<Process>& process, SinkGate& gate);

// Posts `begin` to the host and answers with the turn's handle.
std::unique_ptr<RunningTurn> run_session(ProcessHost& host, std::shared_ptr<TurnSession> session);

}  // namespace baton::agents
