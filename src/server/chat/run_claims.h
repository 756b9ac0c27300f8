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
  Claim claim(const std::string& conversation, const std::string& run) {
    enum class Outcome { had, shared, taken };
    const Outcome outcome = claims_->with([&](auto& claims) {
      const auto [holder, fresh] = claims.try_emplace(conversation, run);
      if (fresh) return Outcome::had;
      return !run.empty() && holder->second == run ? Outcome::shared : Outcome::taken;
    });
    if (outcome == Outcome::taken) return nullptr;
    const auto give_back = [claims = claims_, owns = outcome == Outcome::had](const std::string* name) {
      if (owns) claims->with([&](auto& all) { all.erase(*name); });
      delete name;
    };
    return std::shared_ptr<const std::string>(new std::string(conversation), give_back);
  }

 private:
  using Claims = base::Guarded<std::unordered_map<std::string, std::string>>;  // value: the starting run

  std::shared_ptr<Claims> claims_ = std::make_shared<Claims>();  // claims may outlive the server
};

}  // namespace baton::server::chat
