#include "protocol/models/chat_completions/answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/one_line.h"
#include "base/text.h"
#include "json/error_words.h"
#include "json/writer.h"

namespace baton::protocol::models {
namespace {

constexpr std::size_t kCallsMax = 64;
constexpr std::size_t kModelMax = 200;  // bytes of a model's name

// Returns a text, or the joined texts of a list of content parts.
std::string text_in(json::Value content) {
  if (!content.is_array()) return content.str();
  std::string text;
  for (const json::Value part : content) text += part.is_string() ? part.string() : part["text"].string();
  return text;
}

// Servers name their reasoning differently, and some send several fields of which one says something.
std::string reasoning_in(json::Value said) {
  for (const char* member : {"reasoning_content", "reasoning", "thinking", "reasoning_text"}) {
    std::string text = text_in(said[member]);
    if (!text.empty()) return text;
  }
  std::string text;
  for (const json::Value detail : said["reasoning_details"]) {
    text += detail["text"].is_string() ? detail["text"].string() : detail["summary"].string();
  }
  return text;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view one) { return base::same_word(word, one); });
}

// Some servers give the code as a number, like an HTTP status.
std::string code_in(json::Value error) {
  for (const char* member : {"code", "type", "status"}) {
    if (error[member].is_string()) return error[member].str();
    if (const auto number = error[member].integer()) return std::to_string(*number);
  }
  return {};
}

bool is_busy_code(std::string_view code) {
  constexpr std::array<std::string_view, 9> kBusy{
      "rate_limit_exceeded", "rate_limit_error", "server_error", "internal_server_error", "api_error",
      "overloaded_error",    "overloaded",       "timeout",      "service_unavailable"};
  if (std::ranges::count(kBusy, code) > 0) return true;
  const int status = base::number_in<int>(code).value_or(0);
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

AnswerError error_in(json::Value error) {
  AnswerError read;
  if (error.is_string()) return {error.str(), {}, false};
  read.message = json::error_words(error);
  read.code = code_in(error);
  read.busy = is_busy_code(read.code) || is_busy_code(error["type"].string());
  return read;
}

// Returns the error that a server sent in place of an answer, or nullopt.
std::optional<AnswerError> error_of(json::Value answer) {
  if (!answer["error"].absent()) return error_in(answer["error"]);
  if (answer["object"].string() == "error") return error_in(answer);
  return std::nullopt;
}

std::optional<std::int64_t> count_in(json::Value number) {
  const auto count = number.integer();
  return count && *count >= 0 ? count : std::nullopt;
}

void add_count(json::Writer& out, const char* name, std::optional<std::int64_t> count) {
  if (count) out.member(name, *count);
}

}  // namespace

base::Result<AnswerPiece> AnswerReader::take(std::string_view text) {
  const auto document = json::Document::parse_view(text);
  if (!document) return base::fail(document.error());
  const json::Value answer = document->root();
  AnswerPiece piece;
  error_ = error_of(answer);
  if (error_) return piece;
  if (!answer.is_object()) return base::fail(base::ErrorCode::invalid_argument, "it is not an object");
  if (answer["model"].string().size() <= kModelMax && answer["model"].is_string())
    model_ = answer["model"].str();
  take_usage(answer["usage"]);
  // Chunks without choices are about the answer as a whole. Only one choice was requested.
  for (const json::Value choice : answer["choices"]) {
    if (choice["index"].integer().value_or(0) != 0) continue;
    const json::Value said = choice["delta"].is_object() ? choice["delta"] : choice["message"];
    take_choice(said, piece);
    if (const auto taken = take_calls(said["tool_calls"]); !taken) return base::fail(taken.error());
    if (const auto room = check_room(); !room) return base::fail(room.error());
    if (!choice["finish_reason"].string().empty()) finish_reason_ = choice["finish_reason"].str();
    const bool is_whole = choice["message"].is_object() && !choice["delta"].is_object();
    if (is_whole && finish_reason_.empty()) finish_reason_ = "stop";
    break;
  }
  text_ += piece.text;
  return piece;
}

void AnswerReader::take_choice(json::Value said, AnswerPiece& piece) {
  take_content(said["content"], piece);
  if (piece.text.empty()) piece.text = said["refusal"].str();
  if (piece.reasoning.empty()) piece.reasoning = reasoning_in(said);
  others_.add(said, {"role", "content", "refusal", "tool_calls", "function_call"});
}

// Parts that are neither texts nor thoughts are given back only.
void AnswerReader::take_content(json::Value content, AnswerPiece& piece) {
  if (!content.is_array()) {
    piece.text = content.str();
    return;
  }
  for (const json::Value part : content) {
    const bool is_text = part.is_string() || part["text"].is_string();
    if (is_text) {
      piece.text += part.is_string() ? part.string() : part["text"].string();
      continue;
    }
    if (part["type"].string() == "thinking") piece.reasoning += text_in(part["thinking"]);
    others_.add_element(kContentParts, part);
  }
}

AnswerReader::End AnswerReader::end() const {
  if (finish_reason_.empty()) return End::none;
  if (is_one_of(finish_reason_, {"stop", "tool_calls", "function_call", "tool_use", "eos", "eos_token",
                                 "stop_sequence", "end_turn", "complete", "completed", "done"}))
    return End::whole;
  if (is_one_of(finish_reason_, {"length", "max_tokens", "model_length", "max_output_tokens"}))
    return End::cut;
  if (is_one_of(finish_reason_, {"content_filter", "safety", "recitation", "sensitive", "guardrails",
                                 "prohibited_content", "refusal"}))
    return End::filtered;
  return End::broken_off;
}

std::size_t AnswerReader::others_bytes() const {
  std::size_t bytes = others_.bytes();
  for (const Call& call : calls_) bytes += call.others.bytes() + call.function_others.bytes();
  return bytes;
}

base::Result<void> AnswerReader::check_room() const {
  if (call_bytes_ + others_bytes() <= arguments_max_) return {};
  return base::fail(base::ErrorCode::too_large, "its tool calls and what belongs to them have more than " +
                                                    std::to_string(arguments_max_) +
                                                    " bytes (outbound.tool_arguments_max)");
}

base::Result<void> AnswerReader::take_calls(json::Value calls) {
  if (!calls.is_array()) return {};
  for (const json::Value piece : calls) {
    Call& call = call_of(piece);
    if (calls_.size() > kCallsMax) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "more than " + std::to_string(kCallsMax) + " tool calls at once");
    }
    const json::Value function = piece["function"];
    const auto bytes = [&] {
      return call.tool.id.size() + call.tool.name.size() + call.tool.arguments.size();
    };
    call_bytes_ -= bytes();
    if (call.tool.id.empty()) call.tool.id = piece["id"].str();
    if (call.tool.name.empty()) call.tool.name = function["name"].str();
    // Some servers send the arguments as an object instead of its text.
    const json::Value arguments = function["arguments"];
    if (!arguments.absent()) {
      const std::string_view text = arguments.is_string() ? arguments.string() : arguments.raw();
      call.tool.arguments += text;
      call.brackets.add(text);
    }
    call_bytes_ += bytes();
    call.others.add(piece, {"index", "id", "type", "function"});
    call.function_others.add(function, {"name", "arguments"});
    if (call_bytes_ > arguments_max_) return check_room();
  }
  return {};
}

void AnswerReader::Brackets::add(std::string_view piece) {
  for (const char c : piece) {
    if (std::exchange(is_escaped_, false)) continue;
    if (in_string_) {
      is_escaped_ = c == '\\';
      in_string_ = c != '"';
    } else if (c == '{' || c == '[') {
      is_more_ = is_more_ || (depth_ == 0 && (has_begun_ || c == '['));
      has_begun_ = true;
      ++depth_;
    } else if (c == '}' || c == ']') {
      --depth_;
    } else if (c == '"') {
      in_string_ = true;
      is_more_ = is_more_ || depth_ == 0;
    } else {
      const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      is_more_ = is_more_ || (depth_ == 0 && !is_space);
    }
  }
}

// Returns the call that the piece continues, or a new one. The index identifies the call, but some servers
// leave it out or give every call the same index: then a name or another id begins a new call.
AnswerReader::Call& AnswerReader::call_of(json::Value piece) {
  const auto index = piece["index"].integer();
  const std::string_view id = piece["id"].string();
  const bool has_name = !piece["function"]["name"].string().empty();
  const auto goes_on = [&](const Call& call) {
    if (index && call.index) {
      const bool is_other = !id.empty() ? id != call.tool.id : call.brackets.are_closed();
      return *index == *call.index && !(has_name && is_other);
    }
    if (!id.empty()) return id == call.tool.id;
    return !has_name && &call == &calls_.back();
  };
  // Searches from the end: if all calls have the same index, the piece belongs to the last one.
  const auto known = std::find_if(calls_.rbegin(), calls_.rend(), goes_on);
  if (known != calls_.rend()) return *known;
  return calls_.emplace_back(Call{index, {}});
}

std::vector<CalledTool> AnswerReader::calls() const {
  std::vector<CalledTool> called;
  for (const Call& call : calls_) {
    called.push_back(call.tool);
    called.back().others = call.others.json();
    called.back().function_others = call.function_others.json();
  }
  return called;
}

// Some servers send the usage with every chunk; the last one counts.
void AnswerReader::take_usage(json::Value usage) {
  if (!usage.is_object()) return;
  has_usage_ = true;
  input_ = count_in(usage["prompt_tokens"]);
  output_ = count_in(usage["completion_tokens"]);
  total_ = count_in(usage["total_tokens"]);
  reasoning_ = count_in(usage["completion_tokens_details"]["reasoning_tokens"]);
  cached_ = count_in(usage["prompt_tokens_details"]["cached_tokens"]);
}

task::Json AnswerReader::usage(std::string_view provider, std::string_view model) const {
  task::Json used;
  if (!has_usage_) return used;
  json::Writer out(used.text);
  out.object([&] {
    out.optional("provider", provider);
    out.member("model", model_.empty() ? model : std::string_view(model_));
    add_count(out, "inputTokens", input_);
    add_count(out, "outputTokens", output_);
    add_count(out, "totalTokens", total_);
    add_count(out, "reasoningTokens", reasoning_);
    add_count(out, "cachedInputTokens", cached_);
  });
  return used;
}

AnswerError read_error(std::string_view body) {
  const auto document = json::Document::view_of(body);
  json::Value root = document.root();
  if (root.is_array() && root.size() > 0) root = *root.begin();
  return error_of(root).value_or(error_in(root));
}

}  // namespace baton::protocol::models
