// Console: where a client command writes. People see a TerminalView; programs get JSON lines on standard
// output and notes on standard error.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal_view.h"

namespace baton::cli {

class Console {
 public:
  // `json`: write for programs even on a terminal.
  explicit Console(bool json);

  bool for_people() const { return for_people_; }

  // `result` is the JSON that `update` was read from.
  void event(std::string_view result, const wire::a2a::Update& update);
  void json(std::string_view value);
  void text(std::string_view text);
  // A line beside the results.
  void note(std::string_view line);
  // A line about what went wrong: always on standard error.
  void error(std::string_view line);
  // What follows starts on a line of its own.
  void end();

 private:
  void put(std::string_view text);

  const bool for_people_;
  TerminalView view_;
};

}  // namespace baton::cli
