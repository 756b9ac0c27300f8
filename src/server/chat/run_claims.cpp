#include "server/chat/run_claims.h"

namespace baton::server::chat {
RunClaims::Claim RunClaims::claim(const std::string& conversation, const std::string& run) {
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

}  // namespace baton::server::chat
