#include "protocol/models/shared/answer.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "json/writer.h"

namespace baton::protocol::models {
namespace {

constexpr std::size_t kCallsMax = 64;
constexpr std::size_t kModelMax = 200;                       // bytes of a model's name
constexpr std::int64_t kTokensMost = std::int64_t{1} << 50;  // so that sums of counts fit

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view one) { return base::same_word(word, one); });
}

// Takes the first of these members that is a count, if it is larger.
void take_count(std::optional<std::int64_t>& count, json::Value from,
                std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto number = from[name].integer();
    if (!number || *number < 0) continue;
    count = std::max(count.value_or(0), std::min(*number, kTokensMost));
    return;
  }
}

void add_count(json::Writer& out, const char* name, std::optional<std::int64_t> count) {
  if (count) out.member(name, *count);
}

}  // namespace

base::Result<AnswerPiece> AnswerReader::take(std::string_view text) {
  const auto document = json::Document::parse_view(text, {.depth_max = kDepthMax});
  if (!document) return base::fail(document.error());
  const json::Value answer = document->root();
  AnswerPiece piece;
  error_ = error_of(answer);
  if (error_) return piece;
  if (!answer.is_object()) return base::fail(base::ErrorCode::invalid_argument, "it is not an object");
  const std::size_t held_before = held();
  const bool has_ended = end() != End::none;
  if (const auto is_read = read(answer, piece); !is_read) return base::fail(is_read.error());
  if (const auto room = check_room(); !room) return base::fail(room.error());
  text_ += piece.text;
  adds_ = !piece.reasoning.empty() || held() != held_before;
  goes_on_ |= has_ended && adds_;
  pieces_ += adds_ ? 1 : 0;
  return piece;
}

AnswerReader::End AnswerReader::end() const {
  if (finish_reason_.empty()) return End::none;
  if (is_one_of(finish_reason_, {"stop", "tool_calls", "function_call", "tool_use", "eos", "eos_token",
                                 "stop_sequence", "end_turn", "complete", "completed", "done"}))
    return End::whole;
  if (is_one_of(finish_reason_, {"length", "max_tokens", "model_length", "max_output_tokens",
                                 "model_context_window_exceeded"}))
    return End::cut;
  // Gemini adds what the filter found: "content_filter: PROHIBITED_CONTENT".
  const auto filter = std::string_view(finish_reason_).substr(0, finish_reason_.find(':'));
  if (is_one_of(filter,
                {"content_filter", "safety", "recitation", "sensitive", "guardrails", "prohibited_content",
                 "refusal", "guardrail_intervened", "content_filtered", "blocklist", "spii", "image_safety"}))
    return End::filtered;
  return finish_reason_ == "pause_turn" ? End::paused : End::broken_off;
}

base::Result<void> AnswerReader::check_room() const {
  if (rules_.arguments_held + bytes_beside_text() <= rules_.arguments_max) return {};
  return base::fail(base::ErrorCode::too_large, "its tool calls and their data are larger than " +
                                                    std::to_string(rules_.arguments_max) +
                                                    " bytes (outbound.tool_arguments_max)");
}

base::Result<void> AnswerReader::check_calls(std::size_t calls) {
  if (calls <= kCallsMax) return {};
  return base::fail(base::ErrorCode::invalid_argument,
                    "more than " + std::to_string(kCallsMax) + " tool calls at once");
}

void AnswerReader::take_model(json::Value name) {
  if (name.is_string() && name.string().size() <= kModelMax) model_ = name.str();
}

void AnswerReader::take_usage(json::Value usage) {
  if (!usage.is_object()) return;
  has_usage_ = true;
  take_count(counts_.input, usage, {"prompt_tokens", "input_tokens"});
  take_count(counts_.output, usage, {"completion_tokens", "output_tokens"});
  take_count(counts_.total, usage, {"total_tokens"});
  for (const char* details : {"completion_tokens_details", "output_tokens_details"})
    take_count(counts_.reasoning, usage[details], {"reasoning_tokens"});
  for (const char* details : {"prompt_tokens_details", "input_tokens_details"})
    take_count(counts_.cached, usage[details], {"cached_tokens"});
  // Anthropic counts them beside the input, and LiteLLM's chat completions repeat them in its own.
  if (!usage["prompt_tokens"].absent() || !usage["input_tokens_details"].absent()) return;
  take_count(counts_.read, usage, {"cache_read_input_tokens"});
  take_count(counts_.written, usage, {"cache_creation_input_tokens"});
}

task::Json AnswerReader::usage(std::string_view provider, std::string_view model) const {
  task::Json used;
  if (!has_usage_) return used;
  Counts all = counts_;
  const std::int64_t beside = all.read.value_or(0) + all.written.value_or(0);
  if (all.input || beside > 0) all.input = all.input.value_or(0) + beside;
  if (all.read.value_or(0) > 0) all.cached = all.read;
  if (!all.total && all.input && all.output) all.total = *all.input + *all.output;
  json::Writer out(used.text);
  out.object([&] {
    out.optional("provider", provider);
    out.member("model", model_.empty() ? model : std::string_view(model_));
    add_count(out, "inputTokens", all.input);
    add_count(out, "outputTokens", all.output);
    add_count(out, "totalTokens", all.total);
    add_count(out, "reasoningTokens", all.reasoning);
    add_count(out, "cachedInputTokens", all.cached);
  });
  return used;
}

}  // namespace baton::protocol::models
