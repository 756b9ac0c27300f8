#include "protocol/agent_api/agent_api.h"

#include "protocol/agent_api/request.h"
#include "protocol/agent_api/view.h"

namespace baton::protocol::agent_api {
namespace {

// Keeps the defaults of Protocol for answers in words and one run at a time.
class AgentApi final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(json::Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts);
  }
  // A client that wants to stop a run says so: POST /stop.
  bool leaving_cancels() const override { return false; }
};

}  // namespace

const chat::Protocol& protocol() {
  static const AgentApi agent_api;
  return agent_api;
}

}  // namespace baton::protocol::agent_api
