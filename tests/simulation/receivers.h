// Receivers: the servers that webhooks are sent to. They answer, fail, hang and go away.
//
// Each config has its own receiver, which its URL names. Checks that events arrive in order, each only after
// the one before was accepted or given up, durable and with its own state.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "notify/webhook_body.h"
#include "outbound/http_client.h"
#include "task/task.h"

namespace baton::simulation {

class World;

// The body of a webhook: the task's state just after the event.
base::Result<notify::Rendered> render(const notify::DeliveryQueue& queue, const store::Delivery& delivery);

class Receivers {
 public:
  explicit Receivers(World& world) : world_(world) {}

  // A config with a receiver of its own.
  task::PushConfig make_config();
  // The config is stored: its receiver expects the events after `after`.
  void expect(const std::string& url, task::TaskKey task, std::int64_t after);
  void forget(const std::string& url) { receivers_.erase(url); }

  base::Result<outbound::HttpAnswer> answer(const outbound::HttpRequest& request);
  // Checks that all receivers got what they expect.
  void check_all() const;

 private:
  struct Receiver {
    task::ProtocolVersion version = task::ProtocolVersion::v1_0;
    std::optional<task::TaskKey> task;
    std::int64_t after = 0;
    std::int64_t last = 0;      // the event of the last attempt
    bool last_retries = false;  // that attempt will be repeated
    bool gone = false;
    int process = 0;  // the one of the first attempt
    std::set<std::int64_t> accepted;
  };
  void check(Receiver& receiver, const std::string& task, std::int64_t event, const std::string& body) const;

  World& world_;
  int made_ = 0;
  std::map<std::string, Receiver> receivers_;  // by URL
};

}  // namespace baton::simulation
