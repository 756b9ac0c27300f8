// Answers chat requests with runs, the same for every chat protocol and for OpenAI's API.
//
// Threads: any that may block, several at a time: each function reads the store. The answer comes once, then
// or later, from any thread; errors are answered through the call, in the protocol's form if it has one.
#pragma once

#include "server/chat/call.h"

namespace baton::server::chat {

// Handles a request from decoding to answer. One with Last-Event-ID or the name of an earlier run is answered
// with that run and submits nothing. Any other becomes a message to a new or waiting task, and the answer is
// the run that follows.
void run(const CallPtr& call, const protocol::chat::Protocol& protocol);
// Handles a request that was decoded elsewhere.
void run(const CallPtr& call, const protocol::chat::Protocol& protocol, protocol::chat::RunRequest request);

// A run that has begun.
struct BegunRun {
  task::TaskKey key;
  task::TaskId task;
  task::ContextId context;
  task::EventNumber before;  // the log's position before it
};
// Streams a run that has begun, in the form that `request` asks for, without its first `skipped` frames. The
// call must hold a place for a stream.
void show(const CallPtr& call, const protocol::chat::Protocol& protocol, protocol::chat::RunRequest request,
          const BegunRun& begun, std::int64_t skipped);
// Answers with such a run as it is now, as a whole.
void reply(const CallPtr& call, const protocol::chat::Protocol& protocol, protocol::chat::RunRequest request,
           const BegunRun& begun);

}  // namespace baton::server::chat
