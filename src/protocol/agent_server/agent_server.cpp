#include "protocol/agent_server/agent_server.h"

#include "protocol/agent_server/request.h"
#include "protocol/agent_server/view.h"

namespace baton::protocol::agent_server {
namespace {

class AgentServer final : public chat::Protocol {
 public:
  explicit AgentServer(std::string response_event) : response_event_(std::move(response_event)) {}

  base::Result<chat::RunRequest> read(json::Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts, response_event_);
  }

 private:
  const std::string response_event_;
};

}  // namespace

std::unique_ptr<chat::Protocol> make_protocol(std::string response_event) {
  return std::make_unique<AgentServer>(std::move(response_event));
}

}  // namespace baton::protocol::agent_server
