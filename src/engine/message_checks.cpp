#include "engine/message_checks.h"

#include <string>

namespace baton::engine {

using base::ErrorCode;
using base::fail;

base::Result<void> check_size(const task::Submission& submission, std::size_t bytes, std::size_t bytes_max) {
  if (bytes + task::weight_of(submission.message) <= bytes_max) return {};
  return fail(ErrorCode::too_large, "a task may hold " + std::to_string(bytes_max) +
                                        " bytes at most: send this message to a new one");
}

base::Result<void> check_going_on(const task::Submission& submission, const task::TaskHead& head,
                                  const EngineOptions& options) {
  const bool other_context = !submission.context.empty() && submission.context != head.context;
  if (other_context && submission.when_context_differs == task::WhenContextDiffers::refuse) {
    return fail(ErrorCode::invalid_argument, "message.contextId: the task is in another context");
  }
  if (task::is_terminal(head.state) && submission.when_ended == task::WhenEnded::refuse) {
    return fail(ErrorCode::unsupported, "the task has ended");
  }
  if (!submission.ask.empty() && !(task::is_waiting(head.state) && head.ask == submission.ask)) {
    return fail(ErrorCode::conflict, "the task no longer waits for " + submission.ask);
  }
  if (head.message_count >= options.history_max) {
    return fail(ErrorCode::too_large,
                "a task may have " + std::to_string(options.history_max) + " messages at most");
  }
  return check_size(submission, head.bytes, options.task_bytes_max);
}

}  // namespace baton::engine
