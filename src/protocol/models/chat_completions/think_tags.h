// TaggedThoughts: parts an answer that begins with <think>...</think> into reasoning and text.
//
// Tags may be cut over pieces. Tags later in the answer are text: the model may write about them. Takes time
// proportional to the text. Threads: one at a time.
#pragma once

#include <string>
#include <string_view>

#include "protocol/models/shared/answer.h"

namespace baton::protocol::models::chat_completions {

class TaggedThoughts {
 public:
  explicit TaggedThoughts(ThinkTags tags);

  AnswerPiece take(std::string_view text);
  // Returns what is held back because it may be the beginning of a tag.
  AnswerPiece end();

 private:
  enum class Place { before, inside, between, after };
  bool step(AnswerPiece& piece);

  Place place_;
  std::string held_;
};

}  // namespace baton::protocol::models::chat_completions
