// McpCall: one request to a server of MCP tools, over an event loop.
//
// The first request to a server finds out which revision it speaks: `server/discover` does no harm, and
// servers that do not answer it get `initialize` next. A legacy server that has forgotten the session gets
// `initialize` once more.
//
// Retries: what was not sent, and what the server refused for the moment, is sent again. What may have
// arrived is sent again only if the request may be repeated; otherwise its outcome is unknown.
//
// A notification ends with the server's answer, whatever it is.
//
// Requests of a legacy server in the stream of an answer are answered (reply_to), as it may wait for that.
//
// Threads: the loop's. Destroying it closes the connection; a modern server then stops its work.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/loop_turn.h"
#include "agents/settings.h"
#include "outbound/credentials.h"
#include "outbound/post.h"
#include "outbound/rules.h"
#include "protocol/mcp/client/words.h"

namespace baton::agents {

// A server of tools, shared by all turns of the agent whose card names it.
struct McpServer {
  ToolServer settings;
  outbound::Rules rules;
  std::shared_ptr<outbound::Credentials> credentials;  // shared with calls
  LoopServices services;
  std::size_t answer_max = 0;                      // bytes
  bool verbose_errors = false;                     // the agent's author sees them
  std::chrono::milliseconds discover_max{10'000};  // the longest wait for the answer to server/discover
  // How it is spoken to; unset: not known yet. On the loop's thread. Callers who share no credentials share
  // no session.
  mutable std::optional<protocol::mcp::Spoken> spoken = {};
};

struct McpRequest {
  protocol::mcp::Asking asking;
  bool may_repeat = false;
  std::chrono::milliseconds time_max{};
  std::string trace = {};    // as in Post
  std::string account = {};  // that the answer is for
};

// How a request ended.
struct McpCallEnd {
  enum class Kind {
    answered,
    unsent,   // it was not carried out; it may succeed later
    refused,  // it was not carried out, or the server says why it failed
    unknown,  // it may have been carried out
  };
  Kind kind = Kind::answered;
  std::string text = {};  // why; has no secrets
  std::optional<outbound::CallerAsk> asks =
      {};  // unsent or refused: it may succeed once the caller has done this
};

class McpCall {
 public:
  // Gets the result, once. Another thread may call it if the result is long, while the call exists or not.
  using Read = std::function<void(json::Value result)>;
  // Called once, after Read. May destroy the McpCall.
  using OnEnd = std::function<void(McpCallEnd)>;

  McpCall(std::shared_ptr<const McpServer> server, McpRequest request, Read read, OnEnd on_end);
  ~McpCall();
  McpCall(const McpCall&) = delete;
  McpCall& operator=(const McpCall&) = delete;

  // The call may end before this returns.
  void start();

  // The id of the request, as the server knows it.
  int id() const;

 private:
  class Running;
  const std::shared_ptr<Running> running_;  // shared with its callbacks while one of them runs
};

}  // namespace baton::agents
