// What an operator may set about running tasks. All have defaults that suit one machine.
#pragma once

#include <chrono>
#include <cstddef>

namespace baton::engine {

struct EngineOptions {
  int slots = 256;                                // turns running at once, over all agents
  int queue_max = 10'000;                         // turns waiting for a slot; past it: overloaded
  std::chrono::milliseconds reply_wait{600'000};  // the longest a caller waits for a task to stop
  std::chrono::milliseconds drain_grace{10'000};  // what running turns get at shutdown
  std::size_t turn_bytes_max = 4 << 20;           // output of one turn waiting for the disk
  std::size_t artifact_bytes_max = 64 << 20;      // of one artifact, all chunks
  std::size_t part_bytes_max = 4 << 20;           // of one part of a caller's message
  int history_max = 10'000;                       // messages of one task
  int conversation_max = 50;                      // earlier messages an agent is given
  int delegation_depth_max = 8;
  int push_configs_max = 10;  // for one task
  bool push_enabled = true;
  int attempts_max = 5;                       // of one turn, over crashes
  std::chrono::milliseconds disk_retry{250};  // after a write that failed
};

}  // namespace baton::engine
