// ServerOptions: the configuration of the server's requests: tokens, origins, hosts and limits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "server/shared/caller_limit.h"
#include "server/shared/scopes.h"
#include "server/shared/token_source.h"
#include "task/task.h"

namespace baton::server {

class CardSigner;
class Sessions;
class TokenSecret;

// The rights of a token. calls: uses agents as their caller. views: reads the operator API. operates: reads
// the operator API, acts through it, and may call agents.
enum class Role { calls, views, operates };

// A bearer token, or the name in a client's certificate that has the same effect, and its rights.
struct Token {
  std::string secret;  // empty: a certificate's, or of a token that is not in the configuration
  task::Caller caller;
  std::vector<std::string> agents;  // the agents it is valid for; empty: all
  Role role = Role::calls;
  bool binds_children = false;  // its tasks may delegate to `agents` only
  Scopes scopes = Scopes::all();
  std::string certificate = {};     // one of Request::certificate; empty: a bearer token
  task::SubjectToken subject = {};  // as it came, if agents may exchange it; empty: they may not
};

// The agents that a caller's tasks may delegate to; null: any.
using ChildAgents = std::shared_ptr<const std::vector<std::string>>;

// TokenList: the valid tokens. They may be replaced while requests are served.
//
// Threads: any; readers take no lock. Replaced lists are kept, because readers may still use them: one for
// each reload with changes. Copies share one list.
class TokenList {
 public:
  TokenList() : state_(std::make_shared<State>()) { *this = std::vector<Token>(); }
  TokenList& operator=(std::vector<Token> tokens);

  const std::vector<Token>& now() const { return *state_->now.load(std::memory_order_acquire); }
  // Whether any token is a caller's (Role::calls).
  bool has_callers() const;

 private:
  struct State {
    std::atomic<const std::vector<Token>*> now{nullptr};
    base::Guarded<std::vector<std::unique_ptr<const std::vector<Token>>>> all;
  };
  std::shared_ptr<State> state_;  // shared by all copies
};

// Options of the chat protocols.
struct ChatOptions {
  // The protocol of /send-message.
  enum class SendMessage { as_body_says, ag_ui, ag_kit };
  SendMessage send_message = SendMessage::as_body_says;
  std::string response_event = "response";  // the event name of Agent Server's response objects
  int answers_max = 100;                    // maximum answers to questions in one request
  bool old_reasoning = false;               // as in protocol::chat::RunFacts
  bool page = true;                         // the page /chat is served
};

struct ServerOptions {
  TokenList tokens;
  // Further tokens: of authorization servers, and API keys; null: there are none. Shared by the options of
  // callers and operators.
  std::shared_ptr<TokenSource> jwt = nullptr, api_keys = nullptr;
  std::shared_ptr<Sessions> sessions = nullptr;  // of people who signed in; null: nobody can. Shared likewise
  // Signs pages' tokens of callers without a secret in the configuration; null: they get none. Shared with
  // the sessions.
  std::shared_ptr<const TokenSecret> token_secret = nullptr;
  // Signs cards; null: they are not signed. Shared with the service, which sets its keys.
  std::shared_ptr<const CardSigner> card_signer = nullptr;
  bool anonymous = true;  // callers without a token are admitted as "anonymous"
  // The header in which a token of the configuration or an API key may come instead of Authorization; empty:
  // none.
  std::string key_header;
  bool cors = true;
  // "*": any; "loopback": pages of the caller's own machine.
  std::vector<std::string> cors_origins{"loopback"};
  bool any_host = true;              // false: only `hosts`, public_url's host and loopback hosts
  std::vector<std::string> hosts;    // without a port: any port
  bool https = false;                // the listener speaks TLS
  std::vector<std::string> proxies;  // addresses and networks whose X-Forwarded-* headers are trusted
  std::string public_url;            // for cards; empty: the host the caller named
  std::string grpc_address;          // for cards; ":port": on the caller's host; empty: none
  bool grpc_https = false;           // gRPC's port speaks TLS
  CallerLimit streams;               // open event streams
  CallerLimit replies;               // answers that wait for a task to stop
  ChatOptions chat;
  std::size_t answer_bytes_max = 32 << 20;  // above this size the largest parts of an answer become links
  bool trusts_method_names = false;         // accepts A2A 1.0 methods without A2A-Version
  std::chrono::milliseconds mcp_handle_after{5'000};  // MCP: a longer call becomes a handle
  std::string version;                                // of this program

  // Whether callers can have a token. If none can, an unknown token is treated as no token where anonymous
  // callers are admitted.
  bool has_callers() const { return tokens.has_callers() || jwt != nullptr || api_keys != nullptr; }
};

}  // namespace baton::server
