#include "protocol/models/chat_completions/answer.h"

#include <algorithm>
#include <utility>

namespace baton::protocol::models::chat_completions {
namespace {

// Returns the text of a string or of a content part, or the joined texts of a list of these.
std::string text_in(json::Value content) {
  if (content.is_object()) return content["text"].str();
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

// Takes the object out of a text in JSON that holds it: some servers write it as JSON twice. The arguments of
// a function that has none may be null.
void unwrap_arguments(std::string& text) {
  if (text == "null") text = "{}";
  if (!text.starts_with('"')) return;
  const auto outer = json::Document::view_of(text);
  std::string inner = outer.root().str();
  if (json::Document::view_of(inner).root().is_object()) text = std::move(inner);
}

// Leaves out what some servers repeat: relays of Bedrock begin the arguments of each call with an empty
// object, and parsers of vLLM send all arguments once more at the end. Neither text is JSON as a whole.
void mend_arguments(std::string& text) {
  unwrap_arguments(text);
  if (text.starts_with("{}{")) text.erase(0, 2);
  const std::string_view half = std::string_view(text).substr(text.size() / 2);
  const bool is_twice = text.size() == 2 * half.size() && half.starts_with('{') && text.starts_with(half);
  // The text may also be one value with "}{" in its middle. Its halves are no JSON then.
  if (is_twice && json::Document::parse_view(half)) text.resize(text.size() / 2);
}

}  // namespace

base::Result<void> Reader::read(json::Value answer, AnswerPiece& piece) {
  take_model(answer["model"]);
  take_usage(answer["usage"]);
  // Chunks without choices are about the answer as a whole. Only one choice was requested.
  for (const json::Value choice : answer["choices"]) {
    if (choice["index"].integer().value_or(0) != 0) continue;
    take_usage(choice["usage"]);  // Moonshot's place for it
    // OpenRouter's place for an error after a part of the answer.
    if (choice["finish_reason"].string() == "error") error_ = error_of(choice);
    if (error_) return {};
    const bool is_delta = choice["delta"].is_object();
    const bool is_whole = choice["message"].is_object() && !is_delta;
    // MiniMax ends a stream with the whole message, which has come in pieces.
    const bool is_repeated = is_whole && has_deltas_ && pieces() > 0;
    has_deltas_ = has_deltas_ || is_delta;
    const json::Value said = is_delta ? choice["delta"] : choice["message"];
    if (!is_repeated) take_choice(said, piece);
    if (!is_repeated || calls_.empty()) {
      if (const auto taken = take_calls(said["tool_calls"]); !taken) return base::fail(taken.error());
    }
    if (!choice["finish_reason"].string().empty()) finish_reason_ = choice["finish_reason"].str();
    if (is_whole && finish_reason_.empty()) finish_reason_ = "stop";
    if (!finish_reason_.empty()) part_thoughts(think_tags_.end(), piece);
    break;
  }
  return {};
}

AnswerPiece Reader::done() {
  AnswerPiece piece;
  part_thoughts(think_tags_.end(), piece);
  if (finish_reason_.empty()) finish_reason_ = "stop";
  is_over_ = true;
  return piece;
}

void Reader::take_choice(json::Value said, AnswerPiece& piece) {
  AnswerPiece came;
  take_content(said["content"], came);
  if (came.text.empty()) came.text = said["refusal"].str();
  piece.reasoning = came.reasoning.empty() ? reasoning_in(said) : std::move(came.reasoning);
  part_thoughts(think_tags_.take(came.text), piece);
  others_.add(said, {"role", "content", "refusal", "tool_calls", "function_call"});
}

// Thoughts in tags are given back in their tags: the server takes them for text.
void Reader::part_thoughts(AnswerPiece&& tagged, AnswerPiece& piece) {
  piece.text += tagged.text;
  piece.reasoning += tagged.reasoning;
  if (!tagged.reasoning.empty()) others_.add_text(kTaggedThoughts, tagged.reasoning);
}

// Parts that are neither texts nor thoughts are given back only.
void Reader::take_content(json::Value content, AnswerPiece& piece) {
  if (!content.is_array()) {
    // Cloudflare's Workers AI sends a token that looks like a number as one.
    piece.text = content.is_number() ? content.raw() : content.string();
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

std::size_t Reader::bytes_beside_text() const {
  std::size_t bytes = call_bytes_ + others_.bytes();
  for (const Call& call : calls_) bytes += call.others.bytes() + call.function_others.bytes();
  return bytes;
}

base::Result<void> Reader::take_calls(json::Value calls) {
  if (!calls.is_array()) return {};
  for (const json::Value piece : calls) {
    Call& call = call_of(piece);
    if (const auto few = check_calls(calls_.size()); !few) return few;
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
    if (const auto room = check_room(); !room) return room;
  }
  return {};
}

void Reader::Brackets::add(std::string_view piece) {
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
// leave it out or give every call the same index: then a name or another id begins a new call. Others repeat
// the name with every piece (MiniMax), or send it after the first arguments.
Reader::Call& Reader::call_of(json::Value piece) {
  const auto index = piece["index"].integer();
  const std::string_view id = piece["id"].string();
  const std::string_view name = piece["function"]["name"].string();
  const auto goes_on = [&](const Call& call) {
    const bool is_named = !name.empty() && !call.tool.name.empty();
    if (is_named && name != call.tool.name) return false;
    if (index && call.index) {
      const bool has_ids = !id.empty() && !call.tool.id.empty();
      const bool is_other = has_ids ? id != call.tool.id : call.brackets.are_closed();
      return *index == *call.index && !(is_named && is_other);
    }
    if (!id.empty()) return id == call.tool.id;
    return &call == &calls_.back() && (!is_named || call.brackets.are_open());
  };
  // Searches from the end: if all calls have the same index, the piece belongs to the last one.
  const auto known = std::find_if(calls_.rbegin(), calls_.rend(), goes_on);
  if (known != calls_.rend()) return *known;
  const GivenBack none(rules_.arguments_max);
  return calls_.emplace_back(Call{index, {}, none, none});
}

std::vector<CalledTool> Reader::calls() const {
  std::vector<CalledTool> called;
  for (const Call& call : calls_) {
    // Some servers send calls of nothing beside the others.
    if (call.tool.name.empty() && call.tool.arguments.empty()) continue;
    called.push_back(call.tool);
    mend_arguments(called.back().arguments);
    called.back().others = call.others.json();
    called.back().function_others = call.function_others.json();
  }
  return called;
}

}  // namespace baton::protocol::models::chat_completions
