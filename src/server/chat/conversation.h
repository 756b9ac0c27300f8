// Conversation: decides what a request means in its conversation: which task it continues, or that it starts
// one.
//
// Threads: any; reads the store.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/sends/task_service.h"
#include "protocol/chat/transcript.h"
#include "server/chat/call.h"

namespace baton::server::chat {

// A task that waits for its caller's answer.
struct WaitingTask {
  task::TaskHead head;
  protocol::chat::Question question;
  task::Message message;  // asks the question
};

// Newest first.
base::Result<std::vector<WaitingTask>> waiting_tasks(const ChatCall& call, const task::ContextId& context);
// Submitted or working, newest first.
base::Result<std::vector<task::TaskHead>> running_tasks(const ChatCall& call, const task::ContextId& context);

// Whether any of the request's answers belongs to an open question.
bool answers_what_is_open(const protocol::chat::RunRequest& request, const std::vector<WaitingTask>& waiting);

// Moves the submissions out of a request; its stream shows the last one. Empty if the request has nothing
// new. The caller must still fill in caller, agent, tools, state and so on. A client that keeps the
// conversation itself has the text of a question but not its data, so answered questions in its history
// are replaced with Baton's copies. Fails with `conflict` if the conversation does not allow the request.
base::Result<std::vector<task::Submission>> submissions_for(protocol::chat::RunRequest& request,
                                                            const std::vector<WaitingTask>& waiting,
                                                            bool answers_in_words);

// Ids that the conversation's logs have, as far back as its newest tasks and their newest events go.
struct KnownIds {
  std::unordered_map<std::string, task::TaskKey> asks;  // of questions, with the tasks that asked them
  std::unordered_set<std::string> messages;             // of those that were sent
};
base::Result<KnownIds> ids_in(const engine::TaskReader& reader, const task::ContextRef& context);

// Restores a conversation for a client that has none of it.
//
// A client that begins again from one of its messages ("regenerate") sends that message once more, under
// the same id. The messages that had followed it are then left out: only the newest branch counts.

// The newest tasks of a conversation that come after a place in its list, newest first.
struct Said {
  std::vector<task::TaskHead> tasks;
  std::optional<task::ListPosition> next;  // where older ones follow; unset: there are none
  std::size_t bytes = 0;                   // of logs in memory at once while the conversation is read
};
base::Result<Said> said_in(const engine::TaskReader& reader, const task::ContextRef& context,
                           std::optional<task::ListPosition> after = {});

// The conversation's messages, oldest first; omits the oldest ones if they are too many.
base::Result<std::vector<task::Message>> messages_in(const engine::TaskReader& reader,
                                                     const task::ContextRef& context);
base::Result<std::vector<task::Message>> messages_of(const engine::TaskReader& reader, const Said& read_from);

// A page of a conversation, oldest message first: those of whole tasks, as many as it takes for `wanted`
// messages or for about 4 MiB.
struct SaidPage {
  struct Line {
    base::Timestamp at{};
    task::TaskKey key;
    task::TaskId task;
    task::Message message;
  };
  std::vector<Line> lines;
  std::optional<task::ListPosition> next;  // the page of older messages begins after it
};
base::Result<SaidPage> page_of(const engine::TaskReader& reader, const Said& read_from, std::size_t wanted,
                               protocol::chat::Transcript::Tools tools);

}  // namespace baton::server::chat
