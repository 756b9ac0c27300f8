// Receivers: the servers that webhooks are sent to. They answer, fail, hang and go away.
//
// Each config has a receiver of its own, named by its URL. Checked: the events come in order, none before the
// one ahead of it was accepted or given up, each durable and with its own state.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "http/outbound/http_client.h"
#include "notify/webhook_body.h"
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
  // The config is stored; its receiver hears of the events after this one.
  void expect(const std::string& url, task::TaskKey task, std::int64_t after);
  void forget(const std::string& url) { receivers_.erase(url); }

  base::Result<http::outbound::HttpAnswer> answer(const http::outbound::HttpRequest& request);
  // Whether all have what they should.
  void check_all() const;

 private:
  struct Receiver {
    task::ProtocolVersion version = task::ProtocolVersion::v1_0;
    std::optional<task::TaskKey> task;
    std::int64_t after = 0;
    std::int64_t last = 0;      // event of the last attempt
    bool last_retries = false;  // which did not succeed
    bool gone = false;
    int process = 0;  // of the first attempt
    std::set<std::int64_t> accepted;
  };
  void check(Receiver& receiver, const std::string& task, std::int64_t event, const std::string& body) const;

  World& world_;
  int made_ = 0;
  std::map<std::string, Receiver> receivers_;  // by URL
};

}  // namespace baton::simulation
