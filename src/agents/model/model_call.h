// One request to a language model's server.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "agents/settings.h"
#include "outbound/credentials.h"
#include "outbound/rules.h"
#include "protocol/models/shared/answer.h"

namespace baton::agents {

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
};

struct ModelCall {
  std::string body;
  std::chrono::milliseconds time_max{};  // for all of it
  int stop_fd = -1;                      // these two: see outbound::HttpRequest
  bool despite_breaker = false;
  std::string trace = {};              // as in Post
  outbound::Intake* intake = nullptr;  // as in Post; holds nothing when the call is over
};

// Gets the content that a piece of the answer adds, and returns whether to continue.
using OnAnswerPiece = std::function<bool(protocol::models::AnswerPiece piece)>;

// Blocks until the answer is complete, streamed or whole. The answer is bounded by line_max and
// output_max.
ModelCallEnd call_model(const AgentSettings& settings, const outbound::Rules& rules,
                        outbound::Credentials& credentials, const ModelCall& call,
                        protocol::models::AnswerReader& answer, const OnAnswerPiece& on_piece);

}  // namespace baton::agents
