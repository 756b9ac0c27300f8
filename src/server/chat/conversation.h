// What a request means in its conversation: which task it goes on with, or that it begins one.
//
// Threads: any; reads the store.
#pragma once

#include <string>
#include <vector>

#include "server/chat/call.h"

namespace baton::server::chat {

// A task that waits for its caller, and for what.
struct WaitingTask {
  task::TaskHead head;
  wire::chat::Question question;
  task::Message message;  // that asks
};

// Newest first.
base::Result<std::vector<WaitingTask>> waiting_tasks(const Call& call, const task::ContextId& context);
// Submitted or working, newest first.
base::Result<std::vector<task::TaskHead>> running_tasks(const Call& call, const task::ContextId& context);

bool answers_what_is_open(const wire::chat::RunRequest& request, const std::vector<WaitingTask>& waiting);

// What is to be submitted for a request, taken out of it; the one that its stream shows last. A client that
// keeps the conversation has the text of a question, not the data that came with it: its history gets the
// questions that are answered as Baton has them. Caller, agent,
// tools, state and the like are still to be filled in. Nothing: the request says nothing new. Fails with
// `conflict` where the conversation does not allow it.
base::Result<std::vector<task::Submission>> submissions_for(wire::chat::RunRequest& request,
                                                            const std::vector<WaitingTask>& waiting,
                                                            bool answers_in_words);

}  // namespace baton::server::chat
