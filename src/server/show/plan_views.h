// Serves the pictures of plans: of a plan, and of one run of it.
//
// Pictures contain text from cards and from failures. The text is escaped, and pictures are served with a CSP
// sandbox, so that a browser runs and fetches nothing.
//
// Threads: any; no state. `run_picture_of` blocks on the disk.
#pragma once

#include <string>

#include "agents/cards/catalogue.h"
#include "base/error.h"
#include "http/http_server.h"
#include "server/shared/services.h"
#include "task/head.h"

namespace baton::server {

// Returns the picture of the agent's plan. Fails with not_found if the agent is not a plan.
base::Result<std::string> plan_picture_of(const agents::Agent& agent);
// Returns the picture of the run in its current state, of the plan that it began with. Fails with not_found
// if the agent is not a plan.
base::Result<std::string> run_picture_of(const Services& services, const agents::Agent& agent,
                                         const task::TaskHead& run);

http::Reply picture_reply(std::string svg);

}  // namespace baton::server
