// TerminalView: shows a task's events to a person: text as it streams, states in colour, progress as a bar,
// the fields of a question.
//
// Pure: returns what to write, and writes nothing. Text from the agent is made harmless (printable.h).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/artifact_numbers.h"
#include "protocol/a2a/client/updates.h"
#include "task/task.h"

namespace baton::cli {

// The escape sequence that begins the colour of a state; "\x1b[0m" ends it.
std::string_view style_of(task::State state);

class TerminalView {
 public:
  // `rewrites`: a line may be erased and written again, as on a terminal.
  explicit TerminalView(bool colour, std::size_t columns = 80, bool rewrites = true)
      : colour_(colour), columns_(columns), rewrites_(rewrites) {}

  std::string show(const protocol::a2a::Update& update);

  // A note from the program, on a line of its own.
  std::string note_line(std::string_view text);

  // Moves the cursor to the beginning of an empty line.
  std::string end();

 private:
  void show_status(const protocol::a2a::StatusUpdate& update);
  void show_artifact(const protocol::a2a::ArtifactUpdate& update);
  void show_task(const task::Task& task);
  void show_message(const task::Message& message);
  void show_reply(const task::Message& message);
  void show_part(const task::Part& part);

  void progress(double share, const std::string& text);
  void line(std::string_view text, std::string_view style = {});
  void text(const std::string& text);
  void fresh_line();

  const bool colour_;
  const std::size_t columns_;
  const bool rewrites_;
  std::string out_;         // the output of the current call
  bool bar_shown_ = false;  // the cursor is after a bar that will be erased
  bool mid_line_ = false;   // the cursor is after streamed text
  std::optional<task::State> state_;
  std::string last_said_;  // the last text of the working state, so as not to repeat it
  ArtifactNumbers numbers_;
  std::map<int, bool> artifacts_;     // by number: whether any part of the artifact was shown
  std::optional<int> streaming_;      // the artifact the last text belongs to
  std::optional<std::string> reply_;  // the id of the last message in place of a task
};

}  // namespace baton::cli
