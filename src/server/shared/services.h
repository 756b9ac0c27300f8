// Services: what the routes work with. All of it outlives the server.
#pragma once

#include <functional>

#include "agents/cards/catalogue.h"
#include "base/metrics_text.h"
#include "base/worker_pool.h"
#include "engine/engine.h"
#include "server/shared/answer_budget.h"
#include "server/shared/options.h"
#include "server/shared/request_note.h"
#include "server/shared/request_stats.h"

namespace baton::server {

struct Services {
  engine::Engine& engine;
  const agents::Catalogue& catalogue;
  const ServerOptions& options;
  base::WorkerPool& readers;                             // reads the store for delayed answers and streams
  std::function<void(base::MetricsText&)> more_metrics;  // of the rest of the program; may be empty
  AnswerBudget* answers = nullptr;                       // of large answers; null: unbounded
  AnswerBudget* pages = nullptr;                         // of streams' reads from the store; null: unbounded
  RequestStats* requests = nullptr;                      // null: requests are not counted
  RequestWatch watch = {};
};

}  // namespace baton::server
