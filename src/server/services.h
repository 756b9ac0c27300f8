// What the routes need from the rest of the program. All of it outlives the server.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/catalogue.h"
#include "base/guarded.h"
#include "base/worker_pool.h"
#include "engine/engine.h"
#include "server/answer_budget.h"
#include "server/caller_shares.h"

namespace baton::server {

// A static bearer token.
struct Token {
  std::string secret;
  task::Caller caller;
  std::vector<std::string> agents;  // the agents it is good for; empty: all
};

// The tokens that are good now. They may be replaced while requests are served.
//
// Threads: any; readers take no lock. A list that was replaced is kept, since somebody may be reading it:
// there are as many as there were reloads that changed something. Copies are the same list.
class TokenList {
 public:
  TokenList() : state_(std::make_shared<State>()) { *this = std::vector<Token>(); }
  TokenList& operator=(std::vector<Token> tokens);

  const std::vector<Token>& now() const { return *state_->now.load(std::memory_order_acquire); }
  bool empty() const { return now().empty(); }

 private:
  struct State {
    std::atomic<const std::vector<Token>*> now{nullptr};
    base::Guarded<std::vector<std::unique_ptr<const std::vector<Token>>>> all;
  };
  std::shared_ptr<State> state_;  // shared by the copies
};

// Of the chat protocols.
struct ChatOptions {
  // What /send-message speaks.
  enum class SendMessage { as_body_says, ag_ui, ag_kit };
  SendMessage send_message = SendMessage::as_body_says;
  std::string response_event = "response";  // the event name of Agent Server's response objects
  int answers_max = 100;                    // answers to questions in one request
  bool old_reasoning = false;               // as in wire::chat::RunFacts
};

struct ServerOptions {
  TokenList tokens;
  bool anonymous = true;  // callers without a token are let in as "anonymous"
  bool cors = true;
  std::vector<std::string> cors_origins;  // "*" allows any, "loopback" pages of the caller's own machine
  bool any_host = true;                   // else only `hosts`, public_url's and loopback ones are served
  std::vector<std::string> hosts;         // with a port, or of any port
  std::vector<std::string> proxies;       // addresses and networks whose X-Forwarded-* headers are believed
  std::string public_url;                 // what cards show; empty: what the caller asked for
  std::string grpc_address;               // as cards show it; ":port" with the caller's host; empty: none
  CallerShares streams;                   // open event streams
  CallerShares replies;                   // answers that wait for a task to stop
  ChatOptions chat;
  std::size_t answer_bytes_max = 32 << 20;  // past it the largest parts of an answer become links
  bool trusts_method_names = false;         // an A2A 1.0 method without A2A-Version is taken for what it is
};

struct Services {
  engine::Engine& engine;
  const agents::Catalogue& catalogue;
  const ServerOptions& options;
  base::WorkerPool& readers;  // reads the store for answers that are ready later and for streams
  std::function<std::string()> more_metrics;  // Prometheus text of the parts the server does not know
  AnswerBudget* answers = nullptr;            // null: large answers share no bound
  AnswerBudget* pages = nullptr;              // of what streams read from the store; null likewise
};

}  // namespace baton::server
