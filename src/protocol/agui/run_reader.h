// RunReader: reads the events of a run, as a client of AG-UI, into what they mean for a task.
//
// Servers differ in what they leave out, so an event out of place is skipped; only what is no event at all is
// refused. Nothing that is read is trusted; the caller bounds the bytes of an event, and this what is kept
// between events. Threads: one at a time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "task/event.h"

namespace baton::protocol::agui {

struct RunText {
  std::string message;  // the id; a further message has another one
  std::string delta;    // not empty
};
struct RunReasoning {
  std::string delta;  // not empty
};
// What an event means. A ToolCall is whole; whose tool it is, only the caller knows.
using RunPiece = std::variant<RunText, RunReasoning, task::EventBody>;

struct Interrupt {
  std::string id;
  std::string message;
  task::Json schema;      // of the answer, or absent
  task::Json url = {};    // a string, where to authorise; or absent
  bool for_auth = false;  // as Baton's own servers say
};

// How the run ended.
struct RunEnd {
  enum class Kind { finished, interrupted, cancelled, failed };
  Kind kind = Kind::finished;
  task::Json result = {};                  // finished: or absent
  std::vector<Interrupt> interrupts = {};  // interrupted: at least one
  std::string error = {}, code = {};       // failed
};

class RunReader {
 public:
  // `arguments_max`: bytes of the arguments, ids and names of all calls that have begun and not ended.
  explicit RunReader(std::size_t arguments_max = std::size_t{8} << 20) : arguments_max_(arguments_max) {}

  // Fails with parse_error or invalid_argument for what is not an event, and with too_large. After the end of
  // the run further events are ignored.
  base::Result<std::vector<RunPiece>> take(std::string_view json);

  // The bytes that are kept of the events so far.
  std::size_t held() const { return arguments_bytes_ + snapshot_.size(); }

  const std::optional<RunEnd>& end() const { return end_; }

 private:
  using Pieces = std::vector<RunPiece>;
  struct Call {
    std::string id, name, arguments;
    std::size_t bytes() const { return 2 * id.size() + name.size() + arguments.size(); }
  };

  void take_event(std::string_view type, json::Value event, Pieces& out);
  bool take_text(std::string_view type, json::Value event, Pieces& out);
  bool take_call(std::string_view type, json::Value event, Pieces& out);
  bool take_shown(std::string_view type, json::Value event, Pieces& out);
  void take_call_chunk(json::Value event, Pieces& out);
  void take_custom(json::Value event, Pieces& out);
  void begin_call(const std::string& id, json::Value event);
  void add_arguments(const std::string& id, json::Value event);
  void end_call(const std::string& id, Pieces& out);
  void end_chunks(Pieces& out);
  void take_end(json::Value event, Pieces& out);
  static void take_usage(json::Value list, Pieces& out);

  std::size_t arguments_max_;
  std::size_t arguments_bytes_ = 0;    // of calls_
  std::map<std::string, Call> calls_;  // that have begun and not ended
  std::string chunk_call_;             // the one that chunks go on with
  std::string chunk_text_;             // the message that chunks go on with
  std::set<std::string> not_said_;     // messages that are not the agent's words
  bool has_said_ = false;
  std::string snapshot_;  // the agent's last words, as a snapshot of the messages has them
  std::optional<RunEnd> end_;
};

}  // namespace baton::protocol::agui
