// BegunRuns: which runs the chat protocols' clients have begun, and in which conversations one is beginning
// just now. It is memory only: after a restart no run is known to be anybody's, and goes on.
//
// Threads: any.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/guarded.h"
#include "task/ids.h"

namespace baton::server::chat {

class BegunRuns {
 public:
  // The right to begin a run in a conversation; given back when the last copy goes.
  using Claim = std::shared_ptr<const void>;
  // Null if somebody else has it, unless for the very same run: a repetition, which the engine knows by its
  // name. `conversation` names agent, caller and context; `run` may be empty.
  Claim claim(const std::string& conversation, const std::string& run);

  // The run of the task that begins after `before`. The newest ten thousand are known.
  void add(task::TaskKey task, task::EventNumber before);
  bool has(task::TaskKey task, task::EventNumber before) const;

 private:
  struct Runs {
    std::unordered_map<task::TaskKey, task::EventNumber> begin;  // of the last run of each task
    std::deque<task::TaskKey> order;
  };
  using Claims = base::Guarded<std::unordered_map<std::string, std::string>>;  // the run that begins

  base::Guarded<Runs> runs_;
  std::shared_ptr<Claims> claims_ = std::make_shared<Claims>();  // claims may outlive the server
};

}  // namespace baton::server::chat
