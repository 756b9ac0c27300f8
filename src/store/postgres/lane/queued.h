// Turns that wait for a slot at another node and are taken over.
#pragma once

#include <vector>

#include "store/postgres/lane/writer.h"
#include "task/head.h"
#include "task/ids.h"

namespace baton::store::postgres {

// Adds to the open group, as Peers::take_queued says. Throws sql::Failure.
std::vector<task::TaskHead> take_queued(Writer& writer, const std::vector<task::AgentName>& agents, int most);

}  // namespace baton::store::postgres
