// The APIs of language models' servers, and how their answers are read.
#pragma once

namespace baton::protocol::models {

enum class Api {
  chat,       // OpenAI's chat completions, which most servers speak
  responses,  // OpenAI's Responses
  anthropic,  // Anthropic's Messages
};

// Whether text in <think> and </think> at the beginning of a chat completion is reasoning. begun: answers
// begin inside, because the model's template has the first tag.
enum class ThinkTags { text, reasoning, begun };

}  // namespace baton::protocol::models
