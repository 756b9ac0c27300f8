#include "protocol/models/anthropic/answer.h"

#include <utility>

#include "json/writer.h"

namespace baton::protocol::models::anthropic {

base::Result<void> Reader::read(json::Value event, AnswerPiece& piece) {
  const std::string_view type = event["type"].string();
  const std::int64_t index = event["index"].integer().value_or(0);
  if (type == "message_start" || type == "message") {
    if (const auto taken = take_message(type == "message" ? event : event["message"], piece); !taken)
      return taken;
    if (type == "message" && finish_reason_.empty()) finish_reason_ = "end_turn";
  } else if (type == "content_block_start") {
    return begin_block(index, event["content_block"], piece);
  } else if (type == "content_block_delta") {
    take_delta(index, event["delta"], piece);
  } else if (type == "message_delta") {
    if (event["delta"]["stop_reason"].is_string()) finish_reason_ = event["delta"]["stop_reason"].str();
    take_usage(event["usage"]);
  } else if (type == "message_stop") {
    if (finish_reason_.empty()) finish_reason_ = "end_turn";
    is_over_ = true;
  }
  return {};
}

base::Result<void> Reader::take_message(json::Value message, AnswerPiece& piece) {
  take_model(message["model"]);
  take_usage(message["usage"]);
  // MiniMax ends a stream with the whole message, whose blocks have come in pieces.
  const json::Value content = blocks_.empty() ? message["content"] : json::Value();
  std::int64_t index = 0;
  for (const json::Value block : content) {
    if (const auto begun = begin_block(index++, block, piece); !begun) return begun;
  }
  if (message["stop_reason"].is_string()) finish_reason_ = message["stop_reason"].str();
  return {};
}

// Returns the newest block with this number, or a new one.
Reader::Block& Reader::block_at(std::int64_t index) {
  const auto [place, is_new] = places_.try_emplace(index, blocks_.size());
  if (!is_new) return blocks_[place->second];
  bytes_ += sizeof(Block);
  return blocks_.emplace_back();
}

// A server may give a number twice, so each beginning is a block of its own.
base::Result<void> Reader::begin_block(std::int64_t index, json::Value from, AnswerPiece& piece) {
  places_.erase(index);
  Block& block = block_at(index);
  block.type = from["type"].str();
  bytes_ += from.raw().size();
  take_text(block, from["text"].string(), piece);
  if (block.type == "text") return {};
  take_thinking(block, from["thinking"].string(), piece);
  block.signature += from["signature"].string();
  block.is_signed = from["signature"].is_string();
  block.members = members_except(from, {"text", "thinking", "signature", "input", "id", "name"});
  block.id = from["id"].str();
  block.name = from["name"].str();
  // A stream begins with an empty object, and its pieces follow.
  block.has_input = from["input"].is_object();
  block.has_whole_input = block.has_input && from["input"].size() > 0;
  if (block.has_whole_input) block.input = from["input"].raw();
  calls_ += block.type == "tool_use" ? 1 : 0;
  return check_calls(calls_);
}

// Returns the block of this type that a piece with this number continues, or a new one: some servers leave
// out where a block of another type begins.
Reader::Block& Reader::block_for(std::int64_t index, std::string_view type) {
  const std::string& known = block_at(index).type;
  if (!known.empty() && known != type) places_.erase(index);
  Block& block = block_at(index);
  block.type = type;
  return block;
}

void Reader::take_delta(std::int64_t index, json::Value delta, AnswerPiece& piece) {
  const std::string_view type = delta["type"].string();
  const std::string_view text = delta["text"].string(), thinking = delta["thinking"].string();
  if (type == "text_delta" && !text.empty()) return take_text(block_for(index, "text"), text, piece);
  if (type == "thinking_delta" && !thinking.empty())
    return take_thinking(block_for(index, "thinking"), thinking, piece);
  Block& block = block_at(index);
  if (type == "signature_delta") {
    block.signature += delta["signature"].string();
    block.is_signed = true;
    bytes_ += delta["signature"].string().size();
  } else if (type == "input_json_delta") {
    const std::string_view input = delta["partial_json"].string();
    // The beginning of a block may have the whole input, which the pieces repeat.
    if (!input.empty() && std::exchange(block.has_whole_input, false)) block.input.clear();
    block.input += input;
    bytes_ += input.size();
  }
}

void Reader::take_text(Block& block, std::string_view text, AnswerPiece& piece) {
  if (block.type != "text") return;
  piece.text += text;
  block.text += text.size();
}

void Reader::take_thinking(Block& block, std::string_view text, AnswerPiece& piece) {
  piece.reasoning += text;
  block.thinking += text;
  bytes_ += text.size();
}

std::vector<CalledTool> Reader::calls() const {
  std::vector<CalledTool> called;
  for (const Block& block : blocks_) {
    if (block.type == "tool_use")
      called.push_back({block.id, block.name, block.input.empty() ? "{}" : block.input});
  }
  return called;
}

task::Json Reader::others() const {
  PartOrder order;
  for (const Block& block : blocks_) {
    if (block.type == "text") {
      order.add_text(block.text);
      continue;
    }
    const auto members = json::Document::view_of(block.members);
    if (block.type == "tool_use") {
      order.add_call(block.id, members_except(members.root(), {"type"}));
      continue;
    }
    std::string object;
    json::Writer out(object);
    out.object([&] {
      out.member("type", block.type);
      for (const json::Value member : members.root()) {
        if (member.key() != "type") out.key(member.key()).raw(member.raw());
      }
      out.optional("id", block.id).optional("name", block.name);
      if (block.type == "thinking") out.member("thinking", block.thinking);
      if (block.is_signed) out.member("signature", block.signature);
      // Only the server's own tools have an input here.
      const bool is_object = json::Document::view_of(block.input).root().is_object();
      if (is_object || block.has_input || block.type == "server_tool_use")
        out.key("input").raw(is_object ? block.input : "{}");
    });
    order.add_other(std::move(object));
  }
  return order.json(kBlocks);
}

}  // namespace baton::protocol::models::anthropic
