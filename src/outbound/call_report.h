// CallReport: asks the breaker of a server whether a call may go out, and reports the call's outcome once to
// the breaker and to the counts: when the head of the answer has arrived, or at the call's end.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "outbound/breakers.h"
#include "outbound/call_counts.h"

namespace baton::outbound {

class CallReport {
 public:
  // `breakers` and `counts` must outlive this; null: there are none. `origin`: of the server. `counted_as`:
  // its name in the counts; empty: the origin.
  CallReport(Breakers* breakers, CallCounts* counts, std::string origin, std::string counted_as = {});
  CallReport(const CallReport&) = delete;
  CallReport& operator=(const CallReport&) = delete;
  ~CallReport();

  // Returns how long the breaker holds the call back; zero: the call may be sent. `anyway`: it is sent even
  // if the breaker is open.
  std::chrono::milliseconds admit(bool anyway);
  // The error of a call that is held back.
  static base::Error held_back();

  void answered(int status, bool has_retry_after);
  // The call ended without a head. `is_stopped`: its caller ended it. Neither that nor a slow answer counts
  // as a failure of the server.
  void lost(const base::Error& error, bool was_connected, bool is_stopped);

 private:
  void record(Breakers::Went went, CallOutcome outcome);

  Breakers* const breakers_;
  CallCounts* const counts_;
  const std::string origin_, counted_as_;
  std::chrono::steady_clock::time_point begun_{};
  bool is_due_ = false;
};

}  // namespace baton::outbound
