// IoGuess: whether a program speaks the line protocol or reads and writes plain text, for a card that
// leaves this open ("io": "guess"). The guess comes from the program's source until its first line of
// output shows it.
//
// Threads: any; `learn` one at a time.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/settings.h"

namespace baton::agents {

class IoGuess {
 public:
  using Io = AgentSettings::Io;

  IoGuess(const std::vector<std::string>& command, const std::filesystem::path& folder);

  // The format of the input to give the program.
  Io io() const { return io_; }
  // Whether no turn has shown the format yet.
  bool is_open() const { return is_open_; }
  // Records the format that a turn has shown. Returns whether this turn is the first one to show it.
  bool learn(Io io);

 private:
  std::atomic<Io> io_;
  std::atomic<bool> is_open_{true};
};

// Guesses the format of a program's output from its beginning: `lines` if the first line that is not blank is
// a line of the line protocol, else `text`. Returns nullopt if the beginning is too short to tell. `is_all`:
// no more output follows.
std::optional<AgentSettings::Io> spoken_in(std::string_view output, bool is_all);

}  // namespace baton::agents
