// Call: a request to the operator API on the way to its answer, and what its routes use.
//
// Threads: a Call belongs to one thread at a time; it may be answered from any, once. Lifetime: the facts
// outlive every call.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/worker_pool.h"
#include "engine/operators/bulk_jobs.h"
#include "engine/operators/operator_actions.h"
#include "json/document.h"
#include "server/admission/access.h"
#include "server/operate/grpc_relay.h"
#include "server/operate/node_list.h"
#include "server/operate/query.h"
#include "server/shared/services.h"

namespace baton::server::operate {

// The objects that the routes use. `services` has readers and budgets for operators only, so that their
// reads never take a thread or memory from callers.
struct Facts {
  const Services& services;
  const store::OperatorStore& store;
  const store::DeliveryStore& deliveries;
  engine::OperatorActions& actions;
  engine::BulkJobs& bulk;
  const Nodes& nodes;
  std::string version;  // of the program
  base::Timestamp started{};
  std::function<http::Counts()> http_counts;  // of the callers' listener; may be empty
  GrpcRelay grpc = {};                        // empty: this server speaks no gRPC
  std::unique_ptr<std::atomic<bool>> is_counting = std::make_unique<std::atomic<bool>>(false);  // see rows.h
};

struct Call {
  const Facts& facts;
  const std::shared_ptr<http::Exchange> exchange;
  const Operator by;
  const std::string parameter;  // the key or the name in the path; empty if it has none

  const http::Request& request() const { return exchange->request(); }

  // Reads `parameter` as a key. Fails with not_found if it does not have the form of a key.
  template <class Key>
  base::Result<Key> key() const {
    const auto number = key_in(parameter);
    if (number) return Key{*number};
    return base::fail(base::ErrorCode::not_found, "key not found");
  }
};
using CallPtr = std::shared_ptr<const Call>;

http::Reply json_reply(std::string body, int status = 200);
// {"error":{"code","message"}} with the status that fits; `count`: see the API's description.
http::Reply error_reply(const base::Error& error, std::optional<std::int64_t> count = {});
// With the code that fits the status.
http::Reply error_reply(int status, std::string_view message);

// Answers with the JSON, once the data read for it is on the disk, or with the error. Blocks.
void answer(const CallPtr& call, base::Result<std::string> json);

}  // namespace baton::server::operate
