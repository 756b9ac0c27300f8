// AgentSettings: the object "baton" of a card.json, which says how an agent runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace baton::agents {

struct AgentSettings {
  enum class Kind { command, builtin };
  enum class Mode { turn, worker };      // a process for each turn, or long-lived ones that take many
  enum class Io { lines, text };         // the line protocol, or plain text in and out
  enum class Recovery { resume, fail };  // what becomes of a turn that a crash broke off
  enum class Reply { blocking, at_once };

  Kind executor = Kind::command;
  std::vector<std::string> command;  // program and arguments; run in the card's folder
  std::string builtin;               // name of a built-in executor; by default the agent's own
  Mode mode = Mode::turn;
  Io io = Io::lines;
  int workers = 1;      // processes, in worker mode
  int concurrency = 8;  // turns of this agent side by side
  std::chrono::milliseconds turn_timeout{600'000};
  Recovery recovery = Recovery::resume;
  bool is_default = false;  // also served at the root URLs
  Reply reply = Reply::blocking;
  // How questions look in chat protocols: whether a plain message answers one everywhere, and the client's
  // tool by which it is asked if the client offers that tool (empty: none).
  bool plain_answers = false;
  std::string confirm_tool;
  std::map<std::string, std::string> env;            // on top of Baton's own environment
  std::chrono::milliseconds cancel_grace{5'000};     // from being asked to stop to being made to
  std::chrono::milliseconds exit_grace{2'000};       // from the end of a turn to the end of its process
  std::size_t line_max = (8u << 20) + (256u << 10);  // bytes of one line from the agent
  std::uint64_t output_max = 256u << 20;             // bytes of all lines of one turn
};

}  // namespace baton::agents
