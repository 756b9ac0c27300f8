// The list of models: the agents that the caller may use.
//
// Threads: as openai.h.
#pragma once

#include "server/openai/request.h"

namespace baton::server::openai {

void list_models(const RequestPtr& request);
void get_model(const RequestPtr& request);
// For a name with a slash, as models elsewhere have; no agent has one.
void refuse_model(const RequestPtr& request);

}  // namespace baton::server::openai
