#include "protocol/models/chat_completions/think_tags.h"

#include <doctest/doctest.h>

#include <string>

namespace baton::protocol::models::chat_completions::think_tags_test {
namespace {

// What the text gives as "reasoning|text", if it comes in pieces of `size` bytes.
std::string parted(ThinkTags tags, const std::string& text, std::size_t size) {
  TaggedThoughts thoughts(tags);
  AnswerPiece all;
  const auto add = [&](const AnswerPiece& piece) {
    all.reasoning += piece.reasoning;
    all.text += piece.text;
  };
  for (std::size_t at = 0; at < text.size(); at += size) add(thoughts.take(text.substr(at, size)));
  add(thoughts.end());
  return all.reasoning + "|" + all.text;
}

}  // namespace

TEST_CASE("TaggedThoughts: thoughts and text are parted, however the text is cut") {
  struct Case {
    ThinkTags tags;
    const char* text;
    const char* parted;
  };
  for (const Case& one : {
           Case{ThinkTags::reasoning, "<think>Hm < 3</think>\n\nYes, </think>", "Hm < 3|Yes, </think>"},
           Case{ThinkTags::reasoning, "\n <think></think>Yes", "|Yes"},
           Case{ThinkTags::reasoning, "Yes, <think>is a tag</think>", "|Yes, <think>is a tag</think>"},
           Case{ThinkTags::reasoning, " <thin", "| <thin"},
           Case{ThinkTags::reasoning, "<think>Hm </thin", "Hm </thin|"},
           Case{ThinkTags::reasoning, "<think>a<</think</think>b", "a<</think|b"},
           Case{ThinkTags::begun, "Hm</think>\nYes", "Hm|Yes"},
           Case{ThinkTags::begun, "Hm", "Hm|"},
           Case{ThinkTags::text, "<think>Hm</think>Yes", "|<think>Hm</think>Yes"},
       }) {
    CAPTURE(one.text);
    for (std::size_t size = 1; size <= std::string_view(one.text).size(); ++size)
      CHECK(parted(one.tags, one.text, size) == one.parted);
  }
}

TEST_CASE("TaggedThoughts: spaces without end are text") {
  TaggedThoughts thoughts(ThinkTags::reasoning);
  CHECK(thoughts.take(std::string(1'000, ' ')).text.size() == 1'000);
}

}  // namespace baton::protocol::models::chat_completions::think_tags_test
