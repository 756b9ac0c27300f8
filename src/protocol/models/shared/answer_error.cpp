#include "protocol/models/shared/answer_error.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "base/text.h"
#include "json/error_words.h"

namespace baton::protocol::models {
namespace {

// Some servers give the code as a number, like an HTTP status.
std::string code_in(json::Value error) {
  for (const char* member : {"code", "error_type", "type", "status"}) {
    if (error[member].is_string()) return error[member].str();
    if (const auto number = error[member].integer()) return std::to_string(*number);
  }
  return {};
}

bool is_busy_code(std::string_view code) {
  constexpr std::array<std::string_view, 21> kBusy{"rate_limit_exceeded",
                                                   "rate_limit_error",
                                                   "server_error",
                                                   "internal_server_error",
                                                   "api_error",
                                                   "overloaded_error",
                                                   "overloaded",
                                                   "timeout",
                                                   "service_unavailable",
                                                   "timeout_error",
                                                   "server_is_overloaded",
                                                   "slow_down",
                                                   "too_many_requests",
                                                   "engine_overloaded_error",
                                                   "internal_error",
                                                   "upstream_error",
                                                   "ServiceUnavailableException",
                                                   "InternalServerException",
                                                   "ModelStreamErrorException",
                                                   "ModelTimeoutException",
                                                   "ModelNotReadyException"};
  const auto is_code = [&](std::string_view busy) { return base::same_word(code, busy); };
  // DashScope adds the limit that was met: "Throttling.AllocationQuota". Bedrock: "throttlingException".
  if (std::ranges::any_of(kBusy, is_code) || base::begins_with(code, "Throttling")) return true;
  const int status = base::number_in<int>(code).value_or(0);
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

// Whether OpenAI, Moonshot or Zhipu says by this code that the account has nothing left. The HTTP status is
// that of a busy server.
bool is_unpaid_code(std::string_view code) {
  constexpr std::array<std::string_view, 3> kUnpaid{"insufficient_quota", "exceeded_current_quota_error",
                                                    "1113"};
  return std::ranges::count(kUnpaid, code) > 0;
}

using Phrases = std::initializer_list<std::string_view>;

bool has_any(std::string_view text, Phrases phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (base::begins_with(text.substr(at), phrase)) return true;
    }
    return false;
  });
}

// Leaving out images would hide that the history is too long.
bool says_too_long(std::string_view reason) {
  return has_any(reason,
                 {"context length", "context_length", "context size", "context_size", "context window",
                  "context is too long", "prompt is too long", "maximum model length", "token count"});
}

// In the words of vLLM, llama.cpp, Ollama and OpenRouter, DeepSeek, and Groq. A server that cannot read one
// of the images says something else.
bool says_no_images(std::string_view reason) {
  return has_any(reason, {"not a multimodal model", "image input is not supported", "support image input",
                          "unknown variant `image", "content must be a string", "value must be a string"});
}

// `beside`: the object with the error, which has its code if the error is a text.
AnswerError error_in(json::Value error, json::Value beside = {}) {
  AnswerError read;
  read.message = json::error_words(error);
  read.code = code_in(error.is_string() ? beside : error);
  const std::string_view type = error["type"].string();
  read.unpaid = is_unpaid_code(read.code) || is_unpaid_code(type);
  // Relays give the code as the HTTP status of a busy server.
  read.busy = !read.unpaid && (is_busy_code(read.code) || is_busy_code(type));
  return read;
}

// Gemini's errors come in a list of one.
json::Value out_of_list(json::Value answer) {
  return answer.is_array() && answer.size() > 0 ? *answer.begin() : answer;
}

// Returns the error of MiniMax, whose answers all have status 200 and a status of their own; 0 is a good one.
std::optional<AnswerError> error_of_status(json::Value status) {
  const auto code = status["status_code"].integer();
  if (code.value_or(0) == 0) return std::nullopt;
  // Unknown, a timeout, too many requests, three internal errors, too many tokens.
  constexpr std::array kBusy{1000, 1001, 1002, 1013, 1024, 1033, 1039};
  constexpr int kUnpaid = 1008;
  return AnswerError{status["status_msg"].str(), std::to_string(*code), std::ranges::count(kBusy, *code) > 0,
                     *code == kUnpaid};
}

}  // namespace

std::optional<AnswerError> error_of(json::Value answer) {
  answer = out_of_list(answer);
  if (!answer["error"].absent()) return error_in(answer["error"], answer);
  if (answer["object"].string() == "error") return error_in(answer);
  if (auto error = error_of_status(answer["base_resp"])) return error;
  // DeepInfra and Venice report an error in a chunk without choices.
  if (!answer["choices"].absent() || answer["error_message"].string().empty()) return std::nullopt;
  AnswerError read;
  read.message = answer["error_message"].str();
  read.code = answer["error_type"].str();
  read.busy = is_busy_code(read.code);
  return read;
}

AnswerError read_error(std::string_view body) {
  const auto document = json::Document::view_of(body);
  const json::Value root = out_of_list(document.root());
  return error_of(root).value_or(error_in(root));
}

AboutImages about_images(int status, std::string_view reason) {
  constexpr std::array kRefusals{400, 404, 413, 415, 422};
  // llama.cpp answers 500. Without a status that is sure, the words must be about images.
  const bool is_unsure = status == 0 || status == 500;
  const bool is_refusal = std::ranges::count(kRefusals, status) > 0;
  if ((!is_unsure && !is_refusal) || says_too_long(reason)) return AboutImages::no;
  if (says_no_images(reason)) return AboutImages::takes_none;
  return is_refusal || has_any(reason, {"image"}) ? AboutImages::perhaps : AboutImages::no;
}

}  // namespace baton::protocol::models
