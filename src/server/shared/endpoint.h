// Endpoint: the agent that a request is for and the address it came through. Admitted adds the caller.
//
// Threads: any; no state.
#pragma once

#include <string_view>

#include "server/shared/services.h"

namespace baton::server {

// The prefix of every agent's path; the default agent is also served at the root.
inline constexpr std::string_view kAgents = "/agents/";

struct Endpoint {
  const agents::Agent* agent = nullptr;
  bool at_root = false;
  std::string_view address;  // "http://host:port" of the server; outlives every request
  bool is_default = false;   // the agent that gRPC calls are for
};

// A request that the pipeline has authenticated: the agent and its caller.
struct Admitted {
  const Services& services;
  Endpoint endpoint;
  task::Caller caller;       // in a tenant if a page calls
  RequestNotePtr note = {};  // null: requests are not recorded
  // The agents that the caller's tasks may delegate to (task::Submission::child_agents); null: any.
  ChildAgents child_agents = {};
  Scopes scopes = Scopes::all();            // of the caller's token
  task::SubjectTokenPtr subject = nullptr;  // see task::Submission
};

}  // namespace baton::server
