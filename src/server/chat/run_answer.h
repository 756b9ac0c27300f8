// RunAnswer: answers one chat request with a run, streamed or as a whole.
//
// Threads: used by one thread at a time, the one that answers next; `accepted` may be called on the store's
// flushing thread.
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
  RunAnswer(CallPtr request_call, const protocol::chat::Protocol& speaks, protocol::chat::RunRequest read)
      : call(std::move(request_call)), protocol(speaks), request(std::move(read)) {}

  struct TaskNames {
    task::TaskKey key;
    task::TaskId id;
    task::ContextId context;
  };

  const CallPtr call;
  const protocol::chat::Protocol& protocol;
  protocol::chat::RunRequest request;
  task::ContextId conversation;
  RunClaims::Claim claim;  // held until later requests can see the run

  // Answers with the run that follows what was accepted.
  void accepted(const engine::Accepted& accepted);
  // Streams the run after `before`, without what the client has already (`shown`).
  void show(const TaskNames& task, task::EventNumber before, std::optional<RunPosition> shown,
            bool nothing_follows) const;
  // For a request that says nothing new: sends the conversation, if the client has none of it, and the open
  // questions.
  base::Result<void> show_conversation(const std::vector<WaitingTask>& waiting) const;
  // Refuses in the protocol's own form, if it has one.
  void refuse(const base::Error& error) const;

 private:
  protocol::chat::RunFacts facts(const task::TaskId& task, const task::ContextId& context,
                                 task::EventNumber before) const;
  void reply_whole(const engine::Accepted& accepted);
  void reply_run(const engine::Accepted& accepted, AnswerBudget::SharePtr share) const;
  void show_messages(const Said* said, const std::vector<WaitingTask>& waiting,
                     AnswerBudget::SharePtr share) const;
  // Calls `ready` once the budget has room for an answer from this much log, or refuses the call.
  void with_room(std::size_t log_bytes, std::function<void(AnswerBudget::SharePtr)> ready) const;
};

using RunAnswerPtr = std::shared_ptr<RunAnswer>;  // held by pending callbacks

}  // namespace baton::server::chat
