// The tools that a model is offered in a turn: other agents of this server, and the client's own.
//
// Threads: immutable once made.
#pragma once

#include <string>
#include <vector>

#include "agents/settings.h"
#include "protocol/openai/request.h"
#include "task/json.h"

namespace baton::agents {

// The meaning of a call that the model makes.
struct ModelToolUse {
  enum class Kind { wrong, agent, client };
  Kind kind = Kind::wrong;
  std::string text;      // of an agent: the message for it; wrong: why, for the model
  std::string agent;     // the name of the agent
  task::Json arguments;  // of the client's tool: an object
};

class ModelTools {
 public:
  // `client_tools`: Turn::tools. A tool that has the name of an agent's function is not offered.
  ModelTools(const ModelSettings& settings, const task::Json& client_tools);

  const std::vector<protocol::openai::ToolFunction>& functions() const { return functions_; }

  // Nothing in the call is trusted.
  ModelToolUse use_of(const protocol::openai::CalledTool& call) const;

 private:
  std::vector<std::string> agents_;  // functions_ begins with these, in this order
  std::vector<protocol::openai::ToolFunction> functions_;
};

}  // namespace baton::agents
