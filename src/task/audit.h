// AuditEntry: one line of the audit log of operators' actions, including refused ones.
#pragma once

#include <cstdint>
#include <string>

#include "task/ids.h"

namespace baton::task {

// A bulk job's key; see store::BulkJob.
using BulkJobKey = base::Number<struct BulkJobKeyTag>;

inline constexpr const char* kDone = "done";

struct AuditEntry {
  std::string actor;   // the operator's name
  std::string action;  // "cancel", "retry", "answer", "requeue", "resend", "skip", "pause", "resume", ...
  std::string reason;  // as the actor gave it
  std::string detail = {};  // further information: the new task of a retry, a delivery, a number
  // The target of the action. An entry about an agent has no task.
  TaskKey task = {};
  AgentName agent = {};
  Caller caller = {};
  TaskId id = {};
  std::string outcome = kDone;  // or the error code of the refusal
  // The bulk job that acted, if any. Storing the entry also gives the job's item for `task` this outcome and
  // detail.
  BulkJobKey job = {};
};

}  // namespace baton::task
