#include "agents/unfinished_steps.h"

#include "agents/text.h"

namespace baton::agents {
namespace {

std::string named(const std::string& name) {
  return "\"" + escaped(name, 64) + "\"";
}

}  // namespace

std::string UnfinishedSteps::record(const task::EventBody& body) {
  if (const auto* call = std::get_if<task::ToolCall>(&body)) return record_call(*call);
  if (const auto* result = std::get_if<task::ToolResult>(&body)) return record_result(*result);
  if (const auto* step = std::get_if<task::Step>(&body)) return record_step(*step);
  return {};
}

std::string UnfinishedSteps::record_call(const task::ToolCall& call) {
  const bool is_new = calls_.try_emplace(call.id, Call{next_++, !call.by_client}).second;
  if (is_new && !call.by_client) ++open_calls_;
  return is_new ? "" : "tool-call: this turn already has a call " + named(call.id);
}

std::string UnfinishedSteps::record_result(const task::ToolResult& result) {
  const auto call = calls_.find(result.id);
  if (call == calls_.end()) return "tool-result: this turn has no call " + named(result.id);
  if (!call->second.open) return "tool-result: the call " + named(result.id) + " already has its result";
  call->second.open = false;
  --open_calls_;
  return {};
}

std::string UnfinishedSteps::record_step(const task::Step& step) {
  if (step.phase == task::Step::Phase::finish) {
    return steps_.erase(step.name) == 1 ? "" : "step: " + named(step.name) + " has not started";
  }
  const bool is_new = steps_.try_emplace(step.name, next_++).second;
  return is_new ? "" : "step: " + named(step.name) + " has already started";
}

std::vector<task::EventBody> UnfinishedSteps::close() {
  std::map<std::uint64_t, std::string> calls;
  for (const auto& [id, call] : calls_) {
    if (call.open) calls.emplace(call.order, id);
  }
  std::map<std::uint64_t, std::string, std::greater<>> steps;
  for (const auto& [name, order] : steps_) steps.emplace(order, name);
  calls_.clear();
  open_calls_ = 0;
  steps_.clear();

  std::vector<task::EventBody> ends;
  for (const auto& [order, id] : calls) ends.push_back(task::ToolResult{id, {}, "the agent gave no result"});
  for (const auto& [order, name] : steps) ends.push_back(task::Step{name, task::Step::Phase::finish});
  return ends;
}

}  // namespace baton::agents
