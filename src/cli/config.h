// Config: the configuration of `baton serve`. The values here are the defaults; settings.cpp describes each
// setting, and load_config.h says where other values come from.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "grpc/limits.h"
#include "server/http/http_server.h"

namespace baton::cli {

// A bearer token and the caller it stands for.
struct Token {
  std::string secret;
  std::string caller;
  std::vector<std::string> agents;  // the agents it is good for; empty: all
  std::string variable;             // the environment variable that holds the secret; empty: none
  std::string file;                 // the file that holds the secret; empty: none
};

struct Cors {
  bool enabled = true;
  // "*" allows any, "loopback" pages of the caller's own machine; always without credentials.
  std::vector<std::string> origins{"loopback"};
};

struct A2aSettings {
  bool trust_method_names = false;  // answer 1.0 methods without A2A-Version, too
};

// AG-UI, AG-Kit, Agent API and Agent Server.
struct ChatSettings {
  std::string send_message = "auto";        // what /send-message speaks: as the body says, or one protocol
  std::string response_event = "response";  // the event name of Agent Server's response objects
  std::chrono::milliseconds hang_up_grace{60'000};  // 0: never
  int answers_max = 100;                            // of one request
  bool old_reasoning = false;  // AG-UI clients that name no version get reasoning as THINKING_* events
};

struct TaskLimits {
  std::size_t part_max = 4 << 20;
  std::size_t artifact_max = 64 << 20;
  std::size_t task_max = 64 << 20;      // of a task's whole log
  std::size_t answer_max = 32 << 20;    // of one answer; past it, its largest parts become links
  std::size_t answers_max = 128 << 20;  // of all large answers being made or sent
  int history_max = 10'000;             // messages of one task
  int webhooks_max = 10;                // webhook configs of one task
};

struct EngineSettings {
  int slots = 256;            // turns that run at the same time
  int queue_max = 10'000;     // turns that wait for a slot
  double queue_share = 0.25;  // of queue places, streams and replies, for one of several callers
  std::chrono::milliseconds reply_wait{600'000};
  std::chrono::milliseconds drain_grace{10'000};
  int conversation_max = 50;  // earlier messages of a context that an agent is given
  int delegate_depth_max = 8;
  std::chrono::milliseconds send_retention{86'400'000};  // how long a repeated send is recognised
};

struct WebhookSettings {
  bool enabled = true;
  bool allow_private = false;
  bool allow_metadata = false;
  bool allow_low_ports = false;
  std::chrono::milliseconds timeout{15'000};
  std::chrono::milliseconds resolve_timeout{8'000};
  std::chrono::milliseconds retry_first{1'000};
  std::chrono::milliseconds retry_max{300'000};
  std::chrono::milliseconds give_up_after{86'400'000};
  int senders = 32;
  int senders_per_host = 2;
};

struct GrpcSettings : grpc::GrpcLimits {
  static constexpr int kOff = -1;
  int port = kOff;
  std::string public_address;  // what cards show; empty: the host the caller used and this port
};

struct LogSettings {
  std::string level = "info";
  std::string format = "json";
};

struct Config {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string db = "baton.db";
  std::string agents = "agent-cards";
  bool strict = false;               // a wrong agent card stops the server
  std::string public_url;            // empty: what the caller asked for (Host), else the address listened on
  std::vector<std::string> hosts;    // besides loopback and public_url's; empty, and not on loopback: any
  std::vector<std::string> proxies;  // whose X-Forwarded-* headers are trusted
  std::vector<Token> tokens;
  std::vector<std::string> token_variables;  // environment variables that hold tokens
  std::optional<bool> allow_anonymous;
  bool dev = false;                     // callers see what agents write to standard error
  bool allow_readable_secrets = false;  // allow files with tokens that every user can read
  Cors cors;
  A2aSettings a2a;
  ChatSettings chat;
  server::http::Limits http;
  TaskLimits limits;
  EngineSettings engine;
  WebhookSettings webhooks;
  GrpcSettings grpc;
  LogSettings log;

  // Whether the server listens on a loopback address only.
  bool on_loopback() const;
  // As configured, or else if there are no tokens.
  bool anonymous_allowed() const { return allow_anonymous.value_or(tokens.empty()); }
};

}  // namespace baton::cli
