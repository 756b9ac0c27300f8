// Deeds: the bench's agent as a part of the server; servers/deeds.mjs and agents/deeds do the same.
//
// An echo is answered before `start` returns. Chunks come from a pool's thread, as fast as the disk allows.
// In addition it supports "ticks N MS": N chunks at intervals of MS milliseconds.
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
