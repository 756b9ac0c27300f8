// What a run shows, for both views: the parts of an output as text, and the tokens used.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/give_back.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/chat/run_view.h"
#include "protocol/mcp/resources.h"

namespace baton::protocol::openai {

// A part as text: texts as they are, data as JSON, small files of text as their text, other files as a link.
struct ShownPart {
  std::string text;
  std::string url, title;  // of a link, which is the whole text; empty: there is none
};

inline ShownPart shown_part(const task::Part& part, const std::string& files_url,
                            const mcp::ResourceName& name) {
  if (auto text = mcp::text_in(part)) return {std::move(*text), {}, {}};
  ShownPart shown;
  shown.title = part.filename.empty() ? "file" : part.filename;
  shown.url = part.kind == task::Part::Kind::url ? part.content : files_url + mcp::resource_path(name);
  shown.text = "[" + shown.title + "](" + shown.url + ")";
  return shown;
}

// The parts of an artifact so far.
struct Growing {
  std::size_t parts = 0;
  bool is_text = false;  // the last one

  // Whether the next part of the chunk goes on with the text of the last one.
  bool takes(const task::Part& part, const task::ArtifactChunk& chunk) {
    const bool is_first = &part == chunk.artifact.parts.data();
    const bool was_text = std::exchange(is_text, part.kind == task::Part::Kind::text);
    return is_first && chunk.append && was_text && is_text;
  }
};

// Returns the facts without the request's tools and messages. A stream may be open for a long time, and its
// view does not need them.
inline chat::RunFacts without_request(chat::RunFacts facts) {
  base::give_back(facts.tools.text);
  base::give_back(facts.messages.text);
  return facts;
}

// The tool by which a client lets itself be asked.
inline constexpr std::string_view kAskTool = "ask";

inline bool declares_ask(json::Value tools) {
  for (const json::Value tool : tools) {
    const json::Value function = tool["function"].is_object() ? tool["function"] : tool;
    if (function["name"].string() == kAskTool) return true;
  }
  return false;
}

// The tokens of a run. Models tell them call by call.
class Tokens {
 public:
  void add(const task::Json& used) {
    const auto document = json::Document::view_of(used.text);
    const auto count = [&](std::string_view name) {
      return std::clamp(document.root()[name].integer().value_or(0), std::int64_t{0}, kMost);
    };
    input_ += count("inputTokens");
    output_ += count("outputTokens");
    total_ += std::max(count("totalTokens"), count("inputTokens") + count("outputTokens"));
    reasoning_ += count("reasoningTokens");
    cached_ += count("cachedInputTokens");
  }

  // Writes the object in the form of Responses.
  void write(json::Writer& out) const { write(out, "input_tokens", "output_tokens"); }
  // Writes the object in the form of chat completions.
  void write_completion(json::Writer& out) const { write(out, "prompt_tokens", "completion_tokens"); }

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 40;

  void write(json::Writer& out, const std::string& input, const std::string& output) const {
    out.object([&] {
      out.member(input, input_).member(output, output_).member("total_tokens", total_);
      // Agents do not tell how much was written, but OpenAI's client for Python requires the member
      // since 2.45.
      out.key(input + "_details").object([&] {
        out.member("cached_tokens", cached_).member("cache_write_tokens", 0);
      });
      out.key(output + "_details").object([&] { out.member("reasoning_tokens", reasoning_); });
    });
  }

  std::int64_t input_ = 0, output_ = 0, total_ = 0, reasoning_ = 0, cached_ = 0;
};

}  // namespace baton::protocol::openai
