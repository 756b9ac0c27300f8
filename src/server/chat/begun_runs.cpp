#include "server/chat/begun_runs.h"

namespace baton::server::chat {
namespace {

constexpr std::size_t kRunsMax = 10'000;

}  // namespace

BegunRuns::Claim BegunRuns::claim(const std::string& conversation, const std::string& run) {
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

void BegunRuns::add(task::TaskKey task, task::EventNumber before) {
  runs_.with([&](Runs& runs) {
    const bool fresh = runs.begin.insert_or_assign(task, before).second;
    if (!fresh) return;
    runs.order.push_back(task);
    if (runs.order.size() <= kRunsMax) return;
    runs.begin.erase(runs.order.front());
    runs.order.pop_front();
  });
}

bool BegunRuns::has(task::TaskKey task, task::EventNumber before) const {
  return runs_.with([&](const Runs& runs) {
    const auto found = runs.begin.find(task);
    return found != runs.begin.end() && found->second == before;
  });
}

}  // namespace baton::server::chat
