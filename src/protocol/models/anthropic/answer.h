// Reader: reads the answer of a server to a request of Anthropic's Messages API, from the events of a stream
// or a whole message.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/models/anthropic/request.h"
#include "protocol/models/shared/answer.h"
#include "protocol/models/shared/part_order.h"

namespace baton::protocol::models::anthropic {

class Reader final : public AnswerReader {
 public:
  explicit Reader(const AnswerRules& rules = {}) : AnswerReader(rules) {}

  std::vector<CalledTool> calls() const override;
  task::Json others() const override;

 private:
  // A block of the content.
  struct Block {
    std::string type;
    std::string members;   // of the beginning, but for those below
    std::size_t text = 0;  // bytes
    std::string thinking, signature;
    std::string input;             // JSON of a tool's input, in pieces
    std::string id, name;          // of a tool
    bool is_signed = false;        // it has a signature, which may be empty
    bool has_input = false;        // its beginning has an input, which may be empty
    bool has_whole_input = false;  // that input is not empty, and no piece has come
  };

  base::Result<void> read(json::Value event, AnswerPiece& piece) override;
  std::size_t bytes_beside_text() const override { return bytes_; }
  Block& block_at(std::int64_t index);
  base::Result<void> begin_block(std::int64_t index, json::Value from, AnswerPiece& piece);
  Block& block_for(std::int64_t index, std::string_view type);
  void take_delta(std::int64_t index, json::Value delta, AnswerPiece& piece);
  base::Result<void> take_message(json::Value message, AnswerPiece& piece);
  void take_text(Block& block, std::string_view text, AnswerPiece& piece);
  void take_thinking(Block& block, std::string_view text, AnswerPiece& piece);

  std::vector<Block> blocks_;
  std::map<std::int64_t, std::size_t> places_;  // of blocks, by the number that the server gives them
  std::size_t calls_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace baton::protocol::models::anthropic
