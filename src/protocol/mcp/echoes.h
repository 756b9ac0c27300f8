// Echoes: texts that the server gives a client and that the client sends back unchanged. Each is one line of
// visible ASCII. None of them is trusted: the tasks that they name are looked up as the caller's.
//
// Threads: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/mcp/mcp.h"
#include "task/ids.h"

namespace baton::protocol::mcp {

// The state of a modern request that was answered with a question outside a handle.
struct RequestState {
  task::TaskId task;
  std::string ask;  // the id of the question
};
std::string make_request_state(const RequestState& state);
// Nullopt if the text was changed.
std::optional<RequestState> read_request_state(std::string_view text);

// A place in the stream of a legacy call, as the id of an event.
struct StreamPlace {
  task::TaskId task;
  task::EventNumber after;     // the call is answered with the task's first stop after this event
  std::int64_t number = 0;     // of the progress that the event told
  std::string request;         // the id of the call, as JSON
  std::string progress_token;  // as JSON; empty: none
};
std::string make_event_id(const StreamPlace& place);
std::optional<StreamPlace> read_event_id(std::string_view text);

// A session of legacy requests: what its client said in `initialize`. The id holds all of it, so any node can
// read it and it survives a restart. It grants nothing.
struct Session {
  std::string version;
  Abilities client;
};
// `nonce`: distinguishes sessions.
std::string make_session_id(const Session& session, std::string_view caller, std::string_view nonce);
// Nullopt if the id is of another caller, or was changed.
std::optional<Session> read_session_id(std::string_view id, std::string_view caller);

// The id of the request that asks a legacy client the question of a task.
struct AskedTask {
  task::TaskId task;
  std::string ask;
};
std::string make_asking_id(const AskedTask& asked);
std::optional<AskedTask> read_asking_id(std::string_view id);

}  // namespace baton::protocol::mcp
