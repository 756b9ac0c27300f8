// OpenSteps and OpenSubagents: the work that a run shows as begun and not yet ended.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "task/event.h"
#include "wire/agui/out.h"

namespace baton::wire::agui {

// A step's name may be open once only; a step that begins again inside of itself shows as one.
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
  // How the subagents that are still open end with the run, or with an attempt of it.
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

}  // namespace baton::wire::agui
