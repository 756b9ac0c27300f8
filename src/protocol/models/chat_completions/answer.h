// Reader: reads the answer of a server to a chat completion from the chunks of a stream or a whole
// completion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/models/chat_completions/think_tags.h"
#include "protocol/models/shared/answer.h"
#include "protocol/models/shared/given_back.h"

namespace baton::protocol::models::chat_completions {

class Reader final : public AnswerReader {
 public:
  explicit Reader(const AnswerRules& rules = {})
      : AnswerReader(rules), think_tags_(rules.think_tags), others_(rules.arguments_max) {}

  AnswerPiece done() override;
  std::vector<CalledTool> calls() const override;
  // The members of the message that Baton does not know.
  task::Json others() const override { return others_.json(); }

 private:
  // Tells whether text that arrives in pieces is a complete JSON object. It only counts brackets: parsing the
  // text for each piece would take time quadratic in its length.
  class Brackets {
   public:
    void add(std::string_view piece);
    bool are_closed() const { return has_begun_ && depth_ == 0 && !is_more_; }
    bool are_open() const { return depth_ > 0; }

   private:
    std::int64_t depth_ = 0;
    bool has_begun_ = false;
    bool is_more_ = false;  // there is other text before or after the object
    bool in_string_ = false;
    bool is_escaped_ = false;
  };
  struct Call {
    std::optional<std::int64_t> index;
    CalledTool tool;
    GivenBack others, function_others;
    Brackets brackets = {};
  };

  base::Result<void> read(json::Value answer, AnswerPiece& piece) override;
  std::size_t bytes_beside_text() const override;
  void take_content(json::Value content, AnswerPiece& piece);
  void take_choice(json::Value choice, AnswerPiece& piece);
  void part_thoughts(AnswerPiece&& tagged, AnswerPiece& piece);
  base::Result<void> take_calls(json::Value calls);
  Call& call_of(json::Value piece);

  TaggedThoughts think_tags_;
  GivenBack others_;
  std::vector<Call> calls_;
  std::size_t call_bytes_ = 0;
  bool has_deltas_ = false;  // the answer comes in pieces
};

}  // namespace baton::protocol::models::chat_completions
