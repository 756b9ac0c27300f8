// EngineOptions: what an operator may configure about running tasks. The defaults suit one machine.
#pragma once

#include <chrono>
#include <cstddef>

#include "agents/questions.h"

namespace baton::engine {

// How long tasks are kept once they have ended, by the state they ended in; 0: for ever. An agent's card may
// override this for its own tasks.
struct RetentionOptions {
  std::chrono::milliseconds completed{2'592'000'000}, canceled{2'592'000'000}, failed{2'592'000'000},
      rejected{2'592'000'000};
  std::chrono::milliseconds waiting{7'776'000'000};  // for people; then a task is canceled
  bool is_set = false;  // at least one of these is configured; then they apply to older databases too
};

struct EngineOptions {
  int slots = 256;                                // turns running at once, over all agents
  int queue_max = 10'000;                         // turns waiting for a slot; past it: overloaded
  std::chrono::milliseconds reply_wait{600'000};  // the longest a caller waits for a task to stop
  std::chrono::milliseconds drain_grace{10'000};  // how long running turns may take to end at shutdown
  std::size_t turn_bytes_max = 4 << 20;           // one turn's output that waits for the disk
  // The least time between writes of streamed output, if nothing else is written; 0: it is written at once.
  std::chrono::milliseconds output_delay{5};
  std::size_t artifact_bytes_max = 64 << 20;  // of one artifact, all chunks
  std::size_t part_bytes_max = 4 << 20;       // of one part's content in a caller's message
  int parts_max = 10'000;                     // of a caller's message
  std::size_t task_bytes_max = 64 << 20;      // of one task's log
  int history_max = 10'000;                   // messages of one task
  agents::QuestionLimits questions;           // of the schemas of agents' questions
  int conversation_max = 50;                  // earlier messages an agent is given
  int delegation_depth_max = 8;
  int delegation_children_max = 10'000;  // tasks below a task whose budget sets no limit
  std::size_t hops_max = 16;             // the longest hop list that is accepted (Submission::hops)
  // How far ahead a task may be asked to begin, and how many such tasks may wait for their time.
  std::chrono::milliseconds start_delay_max{31'536'000'000};
  int delayed_max = 100'000;
  bool schedules = true;  // agents' schedules begin tasks
  // Whether turns that repeatedly crash the program are quarantined (Recovery).
  bool quarantine = true;
  // How long a run continues after its client has disconnected (Leaving::cancels); 0: it is never canceled.
  std::chrono::milliseconds hang_up_grace{60'000};
  RetentionOptions retention;
  // The most that the store keeps for one caller; 0: unbounded.
  int caller_tasks_max = 0;
  std::size_t caller_bytes_max = 0;
  int push_configs_max = 10;  // for one task
  bool push_enabled = true;
  std::chrono::milliseconds disk_retry{250};  // after a write that failed
};

}  // namespace baton::engine
