// AnswerReader: assembles the answer of a language model's server from the events of a stream, a whole
// answer, or an error in place of either. Each API has its own (Dialect::reader).
//
// Servers leave out different members, so only input that cannot be interpreted is refused. The caller bounds
// the bytes of an event and of the text; AnswerReader bounds those of tool calls and of members to give back.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "protocol/models/shared/answer_error.h"
#include "protocol/models/shared/api.h"
#include "protocol/models/shared/conversation.h"

namespace baton::protocol::models {

// The part of the answer that an event adds.
struct AnswerPiece {
  std::string text;
  std::string reasoning;
};

struct AnswerRules {
  // Bytes of the arguments, ids and names of all calls, and of the members to give back.
  std::size_t arguments_max = std::size_t{8} << 20;
  ThinkTags think_tags = ThinkTags::text;
  std::size_t arguments_held = 0;  // of `arguments_max`, by earlier answers
};

class AnswerReader {
 public:
  // The end that the server has reported. none: no end yet. whole: the answer is complete, or makes calls.
  // cut: it had no room for more. filtered: a filter held back all or a part of it. paused: the server
  // expects another request that ends with this answer. broken_off: by the server's own trouble, or for an
  // unknown reason, which is never taken for a good one.
  enum class End { none, whole, cut, filtered, paused, broken_off };

  explicit AnswerReader(const AnswerRules& rules) : rules_(rules) {}
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;
  virtual ~AnswerReader() = default;

  // Reads the data of one event, or a whole answer. Ignores any other object: relays send such objects to
  // keep a connection open. Fails with parse_error if it is not JSON, with invalid_argument if it does not
  // follow the protocol, and with too_large.
  base::Result<AnswerPiece> take(std::string_view json);
  // The server has sent "[DONE]", the end of a stream of chat completions.
  virtual AnswerPiece done() { return {}; }

  End end() const;
  bool has_ended_early() const { return end() == End::cut || end() == End::filtered; }
  // Whether the newest event reported only an end, or what may follow it (usage), as most servers do. Some
  // servers report an end with every piece of the answer: then this is false, and the answer ends with its
  // stream.
  bool has_settled() const { return end() != End::none && !adds_ && !goes_on_; }
  // The number of events that added to the answer.
  std::size_t pieces() const { return pieces_; }
  // Whether nothing that counts follows, not even the usage.
  bool is_over() const { return is_over_; }
  const std::string& finish_reason() const { return finish_reason_; }
  const std::optional<AnswerError>& error() const { return error_; }

  // The text so far, and the tools called, in order. Ids may be empty or repeat: servers leave them out.
  const std::string& text() const { return text_; }
  virtual std::vector<CalledTool> calls() const = 0;
  // The members that the server expects back with the message, for ChatMessage::others.
  virtual task::Json others() const = 0;

  // The bytes of the answer that are kept.
  std::size_t held() const { return text_.size() + bytes_beside_text(); }
  bool has_usage() const { return has_usage_; }
  // Returns the usage in the form of task::Usage; absent if the server sent none. `model` is used unless the
  // server names one.
  task::Json usage(std::string_view provider, std::string_view model) const;

 protected:
  // Reads an object that is not an error.
  virtual base::Result<void> read(json::Value answer, AnswerPiece& piece) = 0;
  // The bytes of the calls and of the members to give back.
  virtual std::size_t bytes_beside_text() const = 0;

  // Fails with too_large if these take more than the rules allow.
  base::Result<void> check_room() const;
  // Fails with invalid_argument if there are too many calls.
  static base::Result<void> check_calls(std::size_t calls);
  void take_model(json::Value name);
  // Reads the usage as any API names it; ignores anything but an object. Servers send it once, with every
  // event, or a part at the beginning and another at the end, where some leave out or zero what they have
  // said: of each count the largest one stays.
  void take_usage(json::Value usage);

  const AnswerRules rules_;
  std::string finish_reason_;  // as the server names it
  bool is_over_ = false;
  std::optional<AnswerError> error_;

 private:
  using Count = std::optional<std::int64_t>;
  struct Counts {
    Count input, output, total, reasoning, cached;
    Count read, written;  // input from a cache and into it, which `input` does not have
  };

  bool has_usage_ = false;
  Counts counts_;
  std::string text_;
  std::string model_;
  std::size_t pieces_ = 0;
  bool adds_ = false;     // the newest event added to the answer
  bool goes_on_ = false;  // an event added to the answer after an end
};

}  // namespace baton::protocol::models
