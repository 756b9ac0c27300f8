// The exit codes of the client commands.
#pragma once

#include "task/state.h"

namespace baton::cli {

enum ExitCode : int {
  kExitDone = 0,      // the task completed; the command succeeded
  kExitFailed = 1,    // the task failed or was rejected; a card is wrong
  kExitUsage = 2,     // the command line or the configuration is wrong
  kExitWaits = 3,     // the task waits for its caller
  kExitNoAnswer = 4,  // the server cannot be reached, or answered with an error, as it does when the task
                      // to cancel has already ended
  kExitCanceled = 5,  // the task was cancelled
  kExitNotSaved = 6,  // the task completed, but a file of it could not be saved; or the output could not be
                      // written
  kExitRunning = 7,   // the task has not ended yet
  kExitInterrupted = 130,  // Ctrl-C
};

inline int exit_code_for(task::State state) {
  switch (state) {
    case task::State::completed:
      return kExitDone;
    case task::State::failed:
    case task::State::rejected:
      return kExitFailed;
    case task::State::canceled:
      return kExitCanceled;
    case task::State::input_required:
    case task::State::auth_required:
      return kExitWaits;
    case task::State::submitted:
    case task::State::working:
      break;
  }
  return kExitRunning;
}

}  // namespace baton::cli
