// What the routes need from the rest of the program. All of it outlives the server.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "agents/catalogue.h"
#include "base/worker_pool.h"
#include "engine/engine.h"

namespace baton::server {

// A static bearer token.
struct Token {
  std::string secret;
  task::Caller caller;
  std::vector<std::string> agents;  // the agents it is good for; empty: all
};

// Of the chat protocols.
struct ChatOptions {
  // What /send-message speaks.
  enum class SendMessage { as_body_says, ag_ui, ag_kit };
  SendMessage send_message = SendMessage::as_body_says;
  std::string response_event = "response";          // the event name of Agent Server's response objects
  std::chrono::milliseconds hang_up_grace{10'000};  // from a client's leaving to its run's being canceled
};

struct ServerOptions {
  std::vector<Token> tokens;
  bool anonymous = true;  // callers without a token are let in as "anonymous"
  bool cors = true;
  std::vector<std::string> cors_origins;  // "*" allows any
  std::string public_url;                 // what cards show; empty: what the caller asked for
  std::string grpc_address;               // as cards show it; ":port" with the caller's host; empty: none
  ChatOptions chat;
  bool trusts_method_names = false;  // an A2A 1.0 method without A2A-Version is taken for what it is
};

struct Services {
  engine::Engine& engine;
  const agents::Catalogue& catalogue;
  const ServerOptions& options;
  base::WorkerPool& readers;  // reads the store for answers that are ready later and for streams
  std::function<std::string()> more_metrics;  // Prometheus text of the parts the server does not know
};

}  // namespace baton::server
