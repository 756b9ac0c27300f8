#include "agents/model/model_executor.h"

#include <utility>

#include "agents/function_executor.h"
#include "agents/model/model_turn.h"

namespace baton::agents {
namespace {

// A URL from the environment is the operator's word, as outbound.origins are.
OutboundRules rules_for(const Endpoint& endpoint, OutboundRules rules) {
  if (endpoint.is_from_env) rules.origins.push_back(endpoint.url);
  return rules;
}

class ModelExecutor final : public Executor {
 public:
  ModelExecutor(base::WorkerPool& pool, const AgentSettings& settings, const OutboundRules& rules)
      : refusal_(rules.refusal_of(settings.endpoint.url)),
        credentials_(std::make_shared<Credentials>(settings.endpoint, rules)),
        runs_(pool, [settings, rules, credentials = credentials_](FunctionTurn& turn) {
          run_model_turn(settings, rules, *credentials, turn);
        }) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return runs_.start(std::move(turn), std::move(sink));
  }

  std::vector<std::string> missing() const override {
    return missing_outside(!credentials_->missing(), "the key for the model's server", refusal_);
  }

 private:
  const std::string refusal_;
  const std::shared_ptr<Credentials> credentials_;  // shared with running turns
  FunctionExecutor runs_;
};

}  // namespace

std::unique_ptr<Executor> model_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                         const OutboundRules& rules) {
  return std::make_unique<ModelExecutor>(pool, settings, rules_for(settings.endpoint, rules));
}

}  // namespace baton::agents
