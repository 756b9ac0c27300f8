// Console: the output of a client command: text for people, with or without a terminal, or JSON lines on
// standard output and notes on standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "cli/terminal_view.h"

namespace baton::cli {

// Prints `text` to standard error after a quarter of a second, unless it is destroyed before.
class SlowNotice {
 public:
  explicit SlowNotice(std::string text);

 private:
  std::jthread thread_;
};

// Returns `exit_code` if standard output could be written. Otherwise ends the program, as a Console does:
// with 141 if the reader is gone, or else with an error message and kExitNotSaved.
int written(int exit_code);

class Console {
 public:
  explicit Console(bool json);

  bool for_people() const { return for_people_; }
  bool on_terminal() const { return on_terminal_; }
  // The width of the terminal, 80 if unknown; without a terminal, so many that little is cut.
  std::size_t columns() const { return columns_; }
  // The current height of the terminal; 0 if unknown.
  std::size_t rows() const;
  bool colours() const { return colours_; }

  // `result` is the JSON that `update` was read from.
  void event(std::string_view result, const protocol::a2a::Update& update);
  void json(std::string_view value);
  void text(std::string_view text);
  // Writes a line that is not a result. `print_note` and `error` make untrusted text printable.
  void print_note(std::string_view line);
  // Writes a line about an error, always to standard error.
  void error(std::string_view line);
  // Ends the current line: later output starts on a new one.
  void end();

 private:
  void put(std::string_view text);

  const bool for_people_;
  const bool on_terminal_;
  const std::size_t columns_;
  const bool colours_;
  TerminalView view_;
};

}  // namespace baton::cli
