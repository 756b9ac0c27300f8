// AnswerReader: puts together what a language model's server answers to a chat completion: the chunks of a
// stream, a whole completion, or an error in the place of either.
//
// Servers differ in what they leave out, so only what cannot be understood is refused. The caller bounds the
// bytes of a chunk and of the text, this those of tools' arguments. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "protocol/openai/request.h"

namespace baton::protocol::openai {

// What a chunk adds to the answer.
struct AnswerPiece {
  std::string text;
  std::string reasoning;
};

struct AnswerError {
  std::string message;  // of the server; may be empty
  std::string code;     // "insufficient_quota", "503"; may be empty
  bool busy = false;    // another try may succeed
};

class AnswerReader {
 public:
  // `arguments_max`: bytes of the arguments, ids and names of all calls.
  explicit AnswerReader(std::size_t arguments_max = std::size_t{8} << 20) : arguments_max_(arguments_max) {}

  // Reads one chunk, or a whole completion. Fails with parse_error for what is not JSON, with
  // invalid_argument for what is not of the protocol, and with too_large.
  base::Result<AnswerPiece> take(std::string_view json);

  // Whether the server has said that the answer is complete.
  bool finished() const { return !finish_reason_.empty(); }
  const std::string& finish_reason() const { return finish_reason_; }
  const std::optional<AnswerError>& error() const { return error_; }

  // The text so far, and the tools called, in order. Ids may be empty or repeat: servers leave them out.
  const std::string& text() const { return text_; }
  std::vector<CalledTool> calls() const;

  // The bytes that are kept of the answer so far.
  std::size_t held() const { return text_.size() + call_bytes_; }

  // task::Usage; absent: the server did not say. `model`: unless the server names it.
  task::Json usage(std::string_view provider, std::string_view model) const;

 private:
  // Whether text that comes in pieces is, so far, one JSON object with its end: by its brackets alone, as to
  // parse it for each piece would take the square of its length.
  class Brackets {
   public:
    void add(std::string_view piece);
    bool are_closed() const { return has_begun_ && depth_ == 0 && !is_more_; }

   private:
    std::int64_t depth_ = 0;
    bool has_begun_ = false;
    bool is_more_ = false;  // there is something else before or after it
    bool in_string_ = false;
    bool is_escaped_ = false;
  };
  struct Call {
    std::optional<std::int64_t> index;
    CalledTool tool;
    Brackets brackets = {};
  };

  void take_choice(json::Value choice, AnswerPiece& piece);
  base::Result<void> take_calls(json::Value calls);
  Call& call_of(json::Value piece);
  void take_usage(json::Value usage);

  std::string text_;
  std::vector<Call> calls_;
  std::size_t arguments_max_;
  std::size_t call_bytes_ = 0;
  std::string finish_reason_;
  std::optional<AnswerError> error_;
  std::string model_;
  bool has_usage_ = false;
  std::optional<std::int64_t> input_, output_, total_, reasoning_, cached_;
};

// The error in the body of an answer whose status is not 2xx; empty if it does not say.
AnswerError read_error(std::string_view body);

}  // namespace baton::protocol::openai
