// RunAnswer: how one request of a chat protocol is answered: with a run as a stream, or as a whole.
//
// Threads: belongs to whoever is to answer, one at a time; `accepted` may be called on the flushing thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "server/chat/call.h"
#include "server/chat/conversation.h"
#include "server/chat/restore.h"
#include "server/chat/run_stream.h"

namespace baton::server::chat {

struct RunAnswer : std::enable_shared_from_this<RunAnswer> {
  RunAnswer(CallPtr request_call, const wire::chat::Protocol& speaks, wire::chat::RunRequest read)
      : call(std::move(request_call)), protocol(speaks), request(std::move(read)) {}

  struct TaskNames {
    task::TaskKey key;
    task::TaskId id;
    task::ContextId context;
  };

  const CallPtr call;
  const wire::chat::Protocol& protocol;
  wire::chat::RunRequest request;
  task::ContextId conversation;
  RunClaims::Claim claim;  // held until the run can be seen by who comes next

  // The run that follows what was accepted.
  void accepted(const engine::Accepted& accepted);
  // The run after `before`, as a stream, without what is `shown` already.
  void show(const TaskNames& task, task::EventNumber before, std::optional<RunPosition> shown,
            bool nothing_follows) const;
  // For a client that said nothing new: what was said, if it has nothing of it, and what waits for an answer.
  base::Result<void> show_conversation(const std::vector<WaitingTask>& waiting) const;
  // In the protocol's own way where it has one.
  void refuse(const base::Error& error) const;

 private:
  wire::chat::RunFacts facts(const task::TaskId& task, const task::ContextId& context,
                             task::EventNumber before) const;
  void reply_whole(const engine::Accepted& accepted);
  void reply_run(const engine::Accepted& accepted, AnswerBudget::SharePtr share) const;
  void show_messages(const Said* said, const std::vector<WaitingTask>& waiting,
                     AnswerBudget::SharePtr share) const;
  // Calls `ready` once an answer made of so much of the log has room, or refuses the call.
  void with_room(std::size_t log_bytes, std::function<void(AnswerBudget::SharePtr)> ready) const;
};

using RunAnswerPtr = std::shared_ptr<RunAnswer>;  // held by the callbacks of what it waits for

}  // namespace baton::server::chat
