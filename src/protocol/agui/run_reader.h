// RunReader: a client of AG-UI. Reads the events of one or more runs into events of a task.
//
// Servers leave out different events, so an event out of place is skipped. Only input that is not an event is
// refused. The input is not trusted: the caller bounds the bytes of an event, and RunReader bounds the data
// that it keeps between events. Threads: one at a time.
#pragma once

#include <cstddef>
#include <deque>
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
  std::string message;  // the message's id
  std::string delta;    // empty only with `last`
  bool last = false;    // the message ends
};
// A snapshot of the conversation: the whole messages of the agent since the last message of the user. A
// message without an id is named by its place.
struct RunSnapshot {
  std::vector<RunText> said;
  bool has_user = false;  // it has a message of the user, so it is of the whole conversation
  // The calls in these messages that have no result there. Some servers tell calls in snapshots only.
  std::vector<task::ToolCall> calls = {};
};
struct RunReasoning {
  std::string delta;  // not empty
};
// The meaning of an event. A ToolCall is complete; only the caller knows which side has the tool.
using RunPiece = std::variant<RunText, RunSnapshot, RunReasoning, task::EventBody>;

struct Interrupt {
  std::string id;
  std::string message;
  task::Json schema;      // of the answer, or absent
  task::Json url = {};    // a string with the URL for authorisation, or absent
  bool for_auth = false;  // set by Baton's own servers
  // The question's subject: the payload that the server sends with it, and the tool call to be approved; or
  // absent.
  task::Json about = {};
};

// LangGraph's adapter asks by custom events of this name. They have no id, so this is the id of such a
// question. The answer goes back as forwardedProps.command.resume.
inline constexpr std::string_view kOnInterrupt = "on_interrupt";

// How a run ended.
struct RunEnd {
  enum class Kind { finished, interrupted, cancelled, failed };
  Kind kind = Kind::finished;
  task::Json result = {};                  // finished: or absent
  std::vector<Interrupt> interrupts = {};  // interrupted: at least one
  std::string error = {}, code = {};       // failed
};

class RunReader {
 public:
  // `arguments_max`: the most bytes of the arguments, ids and names of all open calls, and of questions.
  explicit RunReader(std::size_t arguments_max = std::size_t{8} << 20) : arguments_max_(arguments_max) {}

  // Reads one event. Fails with parse_error or invalid_argument if it is not an event, and with too_large.
  // After the end of a run, events are ignored until another run begins, as runs may follow one another. As
  // in AG-UI's own client, a run that fails is the last: it may have left calls in the middle of their
  // arguments.
  base::Result<std::vector<RunPiece>> take(std::string_view json);

  // The bytes kept between events.
  std::size_t held() const { return arguments_bytes_ + asked_bytes_; }

  // The end of the last run; empty while a run is under way.
  const std::optional<RunEnd>& end() const { return end_; }

 private:
  using Pieces = std::vector<RunPiece>;
  struct Call {
    std::string id, name, arguments;
    std::size_t bytes() const { return 2 * id.size() + name.size() + arguments.size(); }
  };

  void begin_another();
  void take_event(std::string_view type, json::Value event, Pieces& out);
  bool take_text(std::string_view type, json::Value event, Pieces& out);
  bool take_call(std::string_view type, json::Value event, Pieces& out);
  bool take_shown(std::string_view type, json::Value event, Pieces& out);
  void take_call_chunk(json::Value event, Pieces& out);
  void take_custom(json::Value event, Pieces& out);
  void take_on_interrupt(json::Value value);
  void begin_call(const std::string& id, json::Value event);
  void add_arguments(const std::string& id, json::Value event);
  void end_call(const std::string& id, Pieces& out);
  void end_chunks(Pieces& out);
  void remember(const task::ToolCall& call);
  void show_call(json::Value one, Interrupt& interrupt) const;
  void take_end(json::Value event, Pieces& out);
  static void take_usage(json::Value list, Pieces& out);

  std::size_t arguments_max_;
  std::size_t arguments_bytes_ = 0;    // of calls_
  std::map<std::string, Call> calls_;  // open calls
  std::deque<task::ToolCall> made_;    // the last calls without a result, for questions about them
  std::string chunk_call_;             // the call that chunks continue
  std::string chunk_text_;             // the message that chunks continue
  std::set<std::string> chunked_;      // messages in chunks, which end with the next snapshot
  std::set<std::string> not_said_;     // messages of others than the agent
  std::vector<Interrupt> asked_;       // by custom events
  std::size_t asked_bytes_ = 0;
  std::optional<RunEnd> end_;
};

}  // namespace baton::protocol::agui
