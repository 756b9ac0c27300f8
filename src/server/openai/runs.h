// Requests that begin a run. Decision 51 has the rule that finds the task of a conversation that the
// client keeps.
//
// Threads: as openai.h.
#pragma once

#include "protocol/openai/requests.h"
#include "server/openai/request.h"

namespace baton::server::openai {

void create_completion(const RequestPtr& request);
void create_response(const RequestPtr& request);

}  // namespace baton::server::openai
