// ModelCall: one request to a language model's server, over an event loop.
//
// Threads: the loop's. Destroying it cancels the request.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/loop_turn.h"
#include "agents/mcp/mcp_tools.h"
#include "agents/settings.h"
#include "outbound/byte_budget.h"
#include "outbound/credentials.h"
#include "outbound/rules.h"
#include "protocol/models/shared/answer.h"

namespace baton::agents {

// A language model's server.
struct Model {
  AgentSettings settings;
  outbound::Rules rules;
  std::shared_ptr<outbound::Credentials> credentials;  // shared with the executor
  LoopServices services;
  std::shared_ptr<const McpServers> tools;  // of the model; null: none; shared with calls
  // Until then the model is known to take no images. On the loop's thread; shared with the executor's other
  // turns.
  std::shared_ptr<std::chrono::steady_clock::time_point> no_images_until =
      std::make_shared<std::chrono::steady_clock::time_point>();
};

// How a request ended.
struct ModelCallEnd {
  enum class Kind {
    complete,
    stopped,      // by the turn
    busy,         // the server said so before it answered: another try may succeed
    unreachable,  // no connection, or trouble that may be over in a moment
    broken_off,   // the connection was lost before the answer was complete, or the answer is not valid
    refused,      // the server does not want the request, or answered too much
  };
  Kind kind = Kind::complete;
  std::string text = {};                       // why; never names the server or the secret
  std::chrono::milliseconds retry_after = {};  // the delay that a busy server asks for; 0: none
  bool held = false;  // unreachable: the breaker held the request back, for retry_after
  std::optional<outbound::CallerAsk> asks = {};  // it may succeed once the caller has done this
  int status = 0;  // of HTTP, if it refuses the request; 0: no answer came, or its content says why
};

struct ModelRequestText {
  std::string body;
  std::chrono::milliseconds time_max{};  // for all of it
  bool despite_breaker = false;
  std::string trace = {};                              // as in Post
  std::shared_ptr<outbound::Intake> intake = nullptr;  // shared with the turn; holds nothing after the call
};

class ModelCall {
 public:
  using Reader = protocol::models::AnswerReader;
  // Gets the content that a piece of the answer adds, and returns whether to continue.
  using OnPiece = std::function<bool(protocol::models::AnswerPiece piece)>;
  // Gets the end and the answer. Called once, and may destroy the ModelCall.
  using OnEnd = std::function<void(ModelCallEnd, std::unique_ptr<Reader>)>;

  // The answer, streamed or whole, is bounded by line_max and output_max. Another thread decodes long texts,
  // so that other turns do not wait.
  ModelCall(std::shared_ptr<const Model> model, ModelRequestText request, std::unique_ptr<Reader> answer,
            OnPiece on_piece, OnEnd on_end);
  ~ModelCall();
  ModelCall(const ModelCall&) = delete;
  ModelCall& operator=(const ModelCall&) = delete;

  // These are like those of outbound::Call.
  void start();
  void pause();
  void resume();

 private:
  class Running;
  const std::shared_ptr<Running> running_;  // shared with its callbacks while one of them runs
};

}  // namespace baton::agents
