// The tools that a model is offered in a turn: other agents of this server, tools of MCP servers, and the
// client's own.
//
// Threads: immutable once made.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "agents/mcp/mcp_tools.h"
#include "agents/settings.h"
#include "agents/tool_names.h"
#include "protocol/models/shared/conversation.h"
#include "task/json.h"

namespace baton::agents {

// The meaning of a call that the model makes.
struct ModelToolUse {
  enum class Kind { wrong, agent, mcp, client };
  Kind kind = Kind::wrong;
  std::string text;       // wrong: why, for the model
  std::string agent;      // the name of the agent; of mcp: that of calls
  task::Message message;  // for the agent
  std::string tool;       // the client's name of its tool
  task::Json arguments;   // of the client's tool: an object

  // Whether a child task does it.
  bool is_child() const { return kind == Kind::agent || kind == Kind::mcp; }
};

class ModelTools {
 public:
  // `client_tools`: Turn::tools. A tool that has the name of an agent's function is not offered. Functions
  // get names and parameters that strict servers take: ToolNames, and an object's schema.
  // `own_name`: of the model's agent. `offered`: the tools of its servers.
  ModelTools(const ModelSettings& settings, const task::Json& client_tools, std::string own_name = {},
             std::vector<OfferedTool> offered = {});

  const std::vector<protocol::models::ToolFunction>& functions() const { return functions_; }

  // Changes the names of the calls in `messages` from those of the client's tools to those of the functions.
  void rename(std::vector<protocol::models::ChatMessage>& messages) const;

  // Nothing in the call is trusted.
  ModelToolUse use_of(const protocol::models::CalledTool& call) const;

 private:
  void add(protocol::models::ToolFunction function);

  const std::string agent_;
  std::vector<std::string> agents_;        // functions_ begins with these, in this order
  std::vector<OfferedTool> offered_;       // these follow
  std::vector<std::string> client_tools_;  // the client's names of the rest
  std::vector<protocol::models::ToolFunction> functions_;
  // The place in functions_, by the function's name and by the client's name of its tool.
  std::unordered_map<std::string, std::size_t> places_, client_places_;
  ToolNames names_;
};

}  // namespace baton::agents
