// RunClaims: in which conversations a run is beginning just now, where only one may.
//
// Threads: any.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/guarded.h"

namespace baton::server::chat {

class RunClaims {
 public:
  // The right to begin a run in a conversation; given back when the last copy goes.
  using Claim = std::shared_ptr<const void>;
  // Null if somebody else has it, unless for the very same run: a repetition, which the engine knows by its
  // name. `conversation` names agent, caller and context; `run` may be empty.
  Claim claim(const std::string& conversation, const std::string& run);

 private:
  using Claims = base::Guarded<std::unordered_map<std::string, std::string>>;  // the run that begins

  std::shared_ptr<Claims> claims_ = std::make_shared<Claims>();  // claims may outlive the server
};

}  // namespace baton::server::chat
