// Endpoint: where a request reached an agent, and who calls.
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

// A request that has passed the pipeline up to authentication: who calls which agent.
struct Admitted {
  const Services& services;
  Endpoint endpoint;
  task::Caller caller;       // who calls; in a tenant if it is a page
  RequestNotePtr note = {};  // null: nobody wants to know of requests
  // The agents to which their tasks may give work (task::Submission::child_agents); null: any.
  ChildAgents child_agents = {};
};

}  // namespace baton::server
