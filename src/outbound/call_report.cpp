#include "outbound/call_report.h"

#include <utility>

#include "outbound/outcome.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;

CallOutcome call_outcome_of(int status) {
  switch (outcome_of(status)) {
    case Outcome::done:
      return CallOutcome::done;
    case Outcome::busy:
      return CallOutcome::busy;
    case Outcome::lost:
      return CallOutcome::lost;
    case Outcome::final:
      break;
  }
  return CallOutcome::refused;
}

}  // namespace

CallReport::CallReport(Breakers* breakers, CallCounts* counts, std::string origin, std::string counted_as)
    : breakers_(breakers), counts_(counts), origin_(std::move(origin)), counted_as_(std::move(counted_as)) {}

CallReport::~CallReport() {
  record(Breakers::Went::unknown, CallOutcome::lost);
}

std::chrono::milliseconds CallReport::admit(bool anyway) {
  const auto held = breakers_ ? breakers_->admit(origin_, anyway) : std::chrono::milliseconds(0);
  is_due_ = held.count() == 0;
  begun_ = std::chrono::steady_clock::now();
  return held;
}

base::Error CallReport::held_back() {
  return {ErrorCode::unavailable, "the server failed several times in a row, so calls to it are paused", {}};
}

void CallReport::answered(int status, bool has_retry_after) {
  record(Breakers::went(status, has_retry_after), call_outcome_of(status));
}

void CallReport::lost(const base::Error& error, bool was_connected, bool is_stopped) {
  if (is_stopped) return record(Breakers::Went::unknown, CallOutcome::stopped);
  const bool is_late = error.code == ErrorCode::deadline_exceeded;
  if (!is_late && error.code != ErrorCode::unavailable)
    return record(Breakers::Went::unknown, CallOutcome::forbidden);
  record(is_late && was_connected ? Breakers::Went::unknown : Breakers::Went::failed,
         was_connected ? CallOutcome::lost : CallOutcome::unreachable);
}

void CallReport::record(Breakers::Went went, CallOutcome outcome) {
  if (!std::exchange(is_due_, false)) return;
  if (breakers_ != nullptr) breakers_->report(origin_, went);
  if (counts_ != nullptr)
    counts_->add(counted_as_.empty() ? origin_ : counted_as_, outcome,
                 std::chrono::steady_clock::now() - begun_);
}

}  // namespace baton::outbound
