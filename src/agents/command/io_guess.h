// IoGuess: whether a program speaks the line protocol or reads and writes plain text, for a card that leaves
// that open ("io": "guess"): as its source looks, until the first line that it prints says so.
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

  // What the program is to be given.
  Io io() const { return io_; }
  // Whether no turn has shown it yet.
  bool is_open() const { return is_open_; }
  // A turn has shown it. Returns whether it is the first one.
  bool learn(Io io);

 private:
  std::atomic<Io> io_;
  std::atomic<bool> is_open_{true};
};

// What the beginning of a program's output speaks: lines if its first line that is not blank is one of the
// line protocol. Nothing: too little of it is there. `is_all`: nothing follows.
std::optional<AgentSettings::Io> spoken_in(std::string_view output, bool is_all);

}  // namespace baton::agents
