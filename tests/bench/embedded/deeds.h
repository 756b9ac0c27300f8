// Deeds: the agent of the bench as a part of the server, the same as servers/deeds.mjs and agents/deeds.
//
// An echo is answered before `start` returns; chunks come from a pool's thread at the pace of the disk.
// Besides it knows "ticks N MS": so many chunks at that pace.
#pragma once

#include "agents/function_executor.h"

namespace baton::bench {

class Deeds final : public agents::Executor {
 public:
  // The pool must outlive this.
  explicit Deeds(base::WorkerPool& pool);

  std::unique_ptr<agents::Execution> start(agents::Turn turn,
                                           std::shared_ptr<agents::TurnSink> sink) override;

 private:
  agents::FunctionExecutor chunks_, ticks_;
};

}  // namespace baton::bench
