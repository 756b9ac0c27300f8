// The pictures of plans, as they are served: of a plan, and of one run of it.
//
// Pictures hold text from cards and from failures. It is escaped, and a browser gets them in a sandbox that
// runs and fetches nothing.
//
// Threads: any; no state. `run_picture` blocks on the disk.
#pragma once

#include <string>

#include "agents/cards/catalogue.h"
#include "base/error.h"
#include "http/http_server.h"
#include "server/shared/services.h"
#include "task/head.h"

namespace baton::server {

// Fails with not_found if the agent is no plan.
base::Result<std::string> plan_picture_of(const agents::Agent& agent);
// The run as it is now, of the plan that it began with. Fails with not_found if the agent is no plan.
base::Result<std::string> run_picture_of(const Services& services, const agents::Agent& agent,
                                         const task::TaskHead& run);

http::Reply picture_reply(std::string svg);

}  // namespace baton::server
