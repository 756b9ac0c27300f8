#include "agents/agui/agui_executor.h"

#include <utility>

#include "agents/agui/agui_turn.h"
#include "agents/function_executor.h"

namespace baton::agents {
namespace {

class AguiExecutor final : public Executor {
 public:
  AguiExecutor(base::WorkerPool& pool, const AgentSettings& settings, const OutboundRules& rules)
      : refusal_(rules.refusal_of(settings.endpoint.url)),
        credentials_(std::make_shared<Credentials>(settings.endpoint, rules)),
        runs_(pool, [settings, rules, credentials = credentials_](FunctionTurn& turn) {
          run_agui_turn(settings, rules, *credentials, turn);
        }) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return runs_.start(std::move(turn), std::move(sink));
  }

  std::vector<std::string> missing() const override {
    return missing_outside(!credentials_->missing(), "the secret for the remote agent", refusal_);
  }

 private:
  const std::string refusal_;
  const std::shared_ptr<Credentials> credentials_;  // shared with running turns
  FunctionExecutor runs_;
};

}  // namespace

std::unique_ptr<Executor> agui_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                        const OutboundRules& rules) {
  return std::make_unique<AguiExecutor>(pool, settings, rules);
}

}  // namespace baton::agents
