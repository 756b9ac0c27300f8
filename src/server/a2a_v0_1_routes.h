// A2A 0.1 over JSON-RPC (VERSIONS.md section 4): one endpoint for each agent. Decodes, calls the engine,
// encodes; no rule about tasks lives here.
//
// Threads: `handle` on the server's workers, several at a time. Lifetime: as Services.
#pragma once

#include <memory>

#include "server/http/http_server.h"
#include "server/services.h"
#include "wire/a2a/v0_1.h"

namespace baton::server {

class A2aV01Routes {
 public:
  explicit A2aV01Routes(const Services& services) : services_(services) {}

  // A POST to the agent's endpoint by a caller who is known.
  void handle(std::shared_ptr<http::Exchange> exchange, const agents::Agent& agent,
              task::Caller caller) const;

 private:
  struct Call;
  using CallPtr = std::shared_ptr<Call>;
  struct Method {
    std::string_view name;
    void (A2aV01Routes::*run)(const CallPtr&) const;
  };
  static const Method* find_method(std::string_view name);

  base::Result<wire::v0_1::SendParams> read_send(const CallPtr& call) const;
  void send(const CallPtr& call) const;
  void send_subscribe(const CallPtr& call) const;
  void get(const CallPtr& call) const;
  void cancel(const CallPtr& call) const;
  void resubscribe(const CallPtr& call) const;
  void set_push(const CallPtr& call) const;
  void get_push(const CallPtr& call) const;

  void reply_task(const CallPtr& call, task::TaskKey key, int history_length,
                  std::optional<task::EventNumber> as_of) const;
  void reply_task_later(const CallPtr& call, task::TaskKey key, int history_length,
                        std::optional<task::EventNumber> as_of) const;
  void reply_error(const CallPtr& call, const base::Error& error) const;
  template <class F>
  void reply_result(const CallPtr& call, F&& result) const;

  const Services& services_;
};

}  // namespace baton::server
