// RunClaims: ensures that at most one run is starting in a conversation that allows one at a time.
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
  // The right to start a run in a conversation; released with the last copy.
  using Claim = std::shared_ptr<const void>;
  // Null if another run has the claim. A repetition of the same run gets it: the engine knows it by its name.
  // `conversation` names agent, caller and context; `run` may be empty.
  Claim claim(const std::string& conversation, const std::string& run);

 private:
  using Claims = base::Guarded<std::unordered_map<std::string, std::string>>;  // value: the starting run

  std::shared_ptr<Claims> claims_ = std::make_shared<Claims>();  // claims may outlive the server
};

}  // namespace baton::server::chat
