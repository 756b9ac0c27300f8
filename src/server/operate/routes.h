// Routes: the paths of the operator API, /operate/v1/..., and who may call them.
//
// Threads: any. The handlers run on a small pool of their own, so that operators never take callers'
// threads. If the pool is full, requests get 429. Lifetime: the facts outlive it; stop the pool before the
// objects that the facts name are destroyed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/operate/call.h"
#include "server/shared/path_table.h"

namespace baton::server::operate {

std::span<const PathRow> paths();

class Routes {
 public:
  Routes(const Facts& facts, base::WorkerPool& pool) : facts_(facts), pool_(pool) {}

  void handle(std::shared_ptr<http::Exchange> exchange, const Operator& by) const;

 private:
  const Facts& facts_;
  base::WorkerPool& pool_;
};

// "GET /tasks/{key}" and so on: the routes that are served, for the test that compares them with the
// description.
std::vector<std::string> all_routes();

}  // namespace baton::server::operate
