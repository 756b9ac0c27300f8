// OpenSteps and OpenSubagents: steps and subagents that a run has shown as begun but not yet ended.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "protocol/agui/out.h"
#include "task/event.h"

namespace baton::protocol::agui {

// A step's name can be open only once: a step that begins again inside itself is shown as one.
class OpenSteps {
 public:
  void show(const task::Step& step, Out& out);
  void close_all(Out& out);

 private:
  struct Open {
    std::string name;
    int depth = 1;
  };
  std::vector<Open> open_;
};

// Only for clients of 1.0. An id stands for one invocation: a subagent that works again gets another.
class OpenSubagents {
 public:
  explicit OpenSubagents(bool newer) : newer_(newer) {}

  void show(const task::Subagent& subagent, Out& out);
  // How subagents that are still open end when the run, or an attempt of it, ends.
  enum class Ending { finished, suspended, broken_off };
  void close_all(Ending ending, Out& out);

 private:
  struct Open {
    std::string task, id;
  };
  std::string start(const task::Subagent& subagent, Out& out);

  const bool newer_;
  Names names_;
  std::vector<Open> open_;
};

}  // namespace baton::protocol::agui
