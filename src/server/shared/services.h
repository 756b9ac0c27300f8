// Services: the objects that the routes use. All of them outlive the server.
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
  std::function<void(base::MetricsText&)> more_metrics;  // adds other metrics of the program; optional
  AnswerBudget* answers = nullptr;                       // for large answers; null: unbounded
  AnswerBudget* pages = nullptr;                         // for streams' reads from the store; null: unbounded
  RequestStats* requests = nullptr;                      // null: requests are not counted
  RequestWatch watch = {};
};

}  // namespace baton::server
