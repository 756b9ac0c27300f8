#include "engine/decide/persistent.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace baton::engine {

using base::ErrorCode;

struct Persistent::Kept {
  Decision decision;
  std::string what;
  IsNeedless is_needless;

  bool is_over() const { return is_needless && is_needless(); }
};

void Persistent::post(Decision decision, std::string what, IsNeedless is_needless) {
  post(std::make_shared<Kept>(Kept{std::move(decision), std::move(what), std::move(is_needless)}));
}

void Persistent::post(const std::shared_ptr<Kept>& kept) {
  if (kept->is_over()) return;
  Decision decision = kept->decision;
  decision.done = [this, kept](base::Result<Written> written) {
    const bool is_final = written || written.error().code == ErrorCode::not_found ||
                          written.error().code == ErrorCode::task_not_found;
    if (!is_final) return refused(kept, written.error());
    if (kept->decision.done) kept->decision.done(std::move(written));
  };
  inbox_.post(std::move(decision));
}

void Persistent::refused(const std::shared_ptr<Kept>& kept, const base::Error& error) {
  if (error.code != ErrorCode::conflict) {
    spdlog::warn("{}; retrying: {}", kept->what, error.for_log);
  } else if (kept->is_over()) {
    return;
  }
  background_.again([this, kept] { post(kept); });
}

}  // namespace baton::engine
