// AnswerReader: assembles the answer of a language model's server to a chat completion from the chunks of a
// stream, a whole completion, or an error in place of either.
//
// Servers leave out different members, so only input that cannot be interpreted is refused. The caller bounds
// the bytes of a chunk and of the text; AnswerReader bounds those of tools' arguments. Threads: one at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "protocol/models/chat_completions/request.h"
#include "protocol/models/shared/given_back.h"

namespace baton::protocol::models {

// The part of the answer that a chunk adds.
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
  // `arguments_max`: bytes of the arguments, ids and names of all calls, and of what is given back.
  explicit AnswerReader(std::size_t arguments_max = std::size_t{8} << 20) : arguments_max_(arguments_max) {}

  // Reads one chunk, or a whole completion. Ignores any other object: relays send such objects to keep a
  // connection open. Fails with parse_error if it is not JSON, with invalid_argument
  // if it does not follow the protocol, and with too_large.
  base::Result<AnswerPiece> take(std::string_view json);

  // The end that the server has reported. none: no end yet. whole: the answer is complete, or makes calls.
  // cut: it had no room for more. filtered: a filter held back all or a part of it. broken_off: by the
  // server's own trouble, or for a reason that is not known, which is never taken for a good one.
  enum class End { none, whole, cut, filtered, broken_off };
  End end() const;
  bool has_ended_early() const { return end() == End::cut || end() == End::filtered; }
  const std::string& finish_reason() const { return finish_reason_; }
  const std::optional<AnswerError>& error() const { return error_; }

  // The text so far, and the tools called, in order. Ids may be empty or repeat: servers leave them out.
  const std::string& text() const { return text_; }
  std::vector<CalledTool> calls() const;

  // The members of the message that Baton does not know, for ChatMessage::others.
  task::Json others() const { return others_.json(); }

  // The bytes of the answer that are kept.
  std::size_t held() const { return text_.size() + call_bytes_ + others_bytes(); }
  bool has_usage() const { return has_usage_; }

  // Returns the usage in the form of task::Usage; absent if the server sent none. `model` is used unless the
  // server names one.
  task::Json usage(std::string_view provider, std::string_view model) const;

 private:
  // Tells whether text that arrives in pieces is a complete JSON object. It only counts brackets: parsing the
  // text for each piece would take time quadratic in its length.
  class Brackets {
   public:
    void add(std::string_view piece);
    bool are_closed() const { return has_begun_ && depth_ == 0 && !is_more_; }

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
    Brackets brackets = {};
    GivenBack others = {}, function_others = {};
  };

  void take_content(json::Value content, AnswerPiece& piece);
  void take_choice(json::Value choice, AnswerPiece& piece);
  std::size_t others_bytes() const;
  base::Result<void> check_room() const;
  base::Result<void> take_calls(json::Value calls);
  Call& call_of(json::Value piece);
  void take_usage(json::Value usage);

  std::string text_;
  GivenBack others_;
  std::vector<Call> calls_;
  std::size_t arguments_max_;
  std::size_t call_bytes_ = 0;
  std::string finish_reason_;
  std::optional<AnswerError> error_;
  std::string model_;
  bool has_usage_ = false;
  std::optional<std::int64_t> input_, output_, total_, reasoning_, cached_;
};

// Returns the error in the body of an answer whose status is not 2xx; empty if the body has none.
AnswerError read_error(std::string_view body);

}  // namespace baton::protocol::models
