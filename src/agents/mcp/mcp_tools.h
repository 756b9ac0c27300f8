// The servers of MCP tools that cards name, and the lists of their tools.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/mcp/mcp_call.h"
#include "agents/settings.h"
#include "base/guarded.h"
#include "task/message.h"

namespace baton::agents {

// The servers of one agent.
struct McpServers {
  std::vector<std::shared_ptr<const McpServer>> all;
  std::chrono::milliseconds time_max{};  // for one call

  // Null if there is none with this URL.
  std::shared_ptr<const McpServer> find(const std::string& url) const;
  // The servers with the credentials of a turn's caller. Returns `servers` itself if none of them is called
  // on behalf of callers.
  static std::shared_ptr<const McpServers> of(const std::shared_ptr<const McpServers>& servers,
                                              const task::SubjectTokenPtr& subject);
  // Returns the reasons why servers cannot be called, one line each.
  std::vector<std::string> missing() const;
};

// The servers of all agents, for kToolAgent. Threads: any.
class McpAgents {
 public:
  // Replaces the servers of the agent by those of its card.
  std::shared_ptr<const McpServers> set(const std::string& agent, const AgentSettings& settings,
                                        const outbound::Rules& rules, const LoopServices& services);
  // Null if the agent is not known.
  std::shared_ptr<const McpServers> find(const std::string& agent) const;

 private:
  base::Guarded<std::map<std::string, std::shared_ptr<const McpServers>>> all_;
};

struct OfferedTool {
  std::shared_ptr<const McpServer> server;
  protocol::mcp::ListedTool tool;
};

// McpListing: asks the servers for their tools, one after the other. Threads: the loop's. Destroying it
// cancels it.
class McpListing {
 public:
  struct About {
    std::chrono::milliseconds time_max{};  // for each server
    std::string trace = {};
    std::string account = {};
  };
  // `error`: why the tools of a server could not be listed, in words for the caller; empty: all were listed.
  // Called once; may destroy the listing.
  using OnEnd = std::function<void(std::string error, std::vector<OfferedTool>)>;

  McpListing(std::shared_ptr<const McpServers> servers, About about, OnEnd on_end)
      : servers_(std::move(servers)), about_(std::move(about)), on_end_(std::move(on_end)) {}
  McpListing(const McpListing&) = delete;
  McpListing& operator=(const McpListing&) = delete;

  void start() { ask_next_server(); }

  // After a listing that failed: what the caller must do before it can succeed; nullopt: nothing is known.
  const std::optional<outbound::CallerAsk>& asks() const { return asks_; }

 private:
  void ask_next_server();
  void ask();
  void add_page(const McpCallEnd& end, protocol::mcp::ToolPage page);
  void end(std::string error);

  const std::shared_ptr<const McpServers> servers_;
  const About about_;
  OnEnd on_end_;
  std::size_t at_ = 0;  // of servers_->all
  std::string cursor_;
  int pages_ = 0;
  std::vector<OfferedTool> tools_;
  std::optional<outbound::CallerAsk> asks_;
  std::optional<McpCall> call_;
};

// A call of a tool, as the message of a task of kToolAgent.
struct McpToolCall {
  std::string agent;  // whose card names the server
  std::string url;    // of the server
  std::string tool;
  bool may_repeat = false;
  protocol::mcp::Headers headers = {};
  task::Json arguments = {};  // an object
};
task::Message message_of(const McpToolCall& call);
// Nullopt for any other message.
std::optional<McpToolCall> read_tool_call(const task::Message& message);

}  // namespace baton::agents
