// AuditEntry: one line of the record of what operators have done, or tried to do.
#pragma once

#include <cstdint>
#include <string>

#include "task/ids.h"

namespace baton::task {

// A bulk job's key; see store::BulkJob.
using BulkJobKey = base::Number<struct BulkJobKeyTag>;

inline constexpr const char* kDone = "done";

struct AuditEntry {
  std::string actor;   // the name of who acted
  std::string action;  // "cancel", "retry", "answer", "requeue", "resend", "skip", "pause", "resume", ...
  std::string reason;  // as the actor gave it
  std::string detail = {};  // what else there is to say: the new task of a retry, a delivery, a number
  // What it was done to. An entry about an agent has no task.
  TaskKey task = {};
  AgentName agent = {};
  Caller caller = {};
  TaskId id = {};
  std::string outcome = kDone;  // or the code of the error with which the action was refused
  // The job that did it. With the entry, the job's item for `task` has this outcome and detail.
  BulkJobKey job = {};
};

}  // namespace baton::task
