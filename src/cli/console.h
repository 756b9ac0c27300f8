// Console: where a client command writes. People see a TerminalView; programs get JSON lines on standard
// output and notes on standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "cli/terminal_view.h"

namespace baton::cli {

// Says on standard error what takes so long, unless it is destroyed within a quarter of a second.
class SlowNotice {
 public:
  explicit SlowNotice(std::string text);

 private:
  std::jthread thread_;
};

class Console {
 public:
  // `json`: write for programs even on a terminal.
  explicit Console(bool json);

  bool for_people() const { return for_people_; }
  // Of the terminal; 80 where that is not known.
  std::size_t columns() const { return columns_; }

  // `result` is the JSON that `update` was read from.
  void event(std::string_view result, const wire::a2a::Update& update);
  void json(std::string_view value);
  void text(std::string_view text);
  // A line beside the results. It may hold text from outside, as may an error: both are made printable here.
  void note(std::string_view line);
  // A line about what went wrong: always on standard error.
  void error(std::string_view line);
  // What follows starts on a line of its own.
  void end();

 private:
  void put(std::string_view text);

  const bool for_people_;
  const std::size_t columns_;
  TerminalView view_;
};

}  // namespace baton::cli
