// StreamBench: the services of a stream and a wait for its news, for a test that pulls it as the connection
// layer would. Derive the consumer from this, so that the stream goes first.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/worker_pool.h"
#include "server/shared/services.h"
#include "support/engine_bench.h"
#include "support/patience.h"

namespace baton::test {

class StreamBench {
 protected:
  explicit StreamBench(EngineBench& bench, server::AnswerBudget* pages = nullptr)
      : services_{bench.engine(), catalogue_, options_, readers_, {}, nullptr, pages} {}

  http::Waker waker() {
    return [this] {
      std::lock_guard lock(mutex_);
      ++wakes_;
      woken_.notify_all();
    };
  }
  // Read this before the pull whose news is waited for.
  int wakes() {
    std::lock_guard lock(mutex_);
    return wakes_;
  }
  bool woken_since(int seen) {
    std::unique_lock lock(mutex_);
    return woken_.wait_for(lock, patience(), [&] { return wakes_ != seen; });
  }

 private:
  static std::vector<agents::Agent> one_agent() {
    std::vector<agents::Agent> agents(1);
    agents[0].name.value = "scripted";
    return agents;
  }

  server::ServerOptions options_;
  agents::Catalogue catalogue_{one_agent()};
  std::mutex mutex_;
  std::condition_variable woken_;
  int wakes_ = 0;

 protected:
  // Below what its thread calls, which it may do until it has ended.
  base::WorkerPool readers_{"readers", 1, 10};
  server::Services services_;
};

}  // namespace baton::test
