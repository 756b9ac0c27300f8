// Takes over turns that wait for a slot at another node.
#pragma once

#include <vector>

#include "store/postgres/lane/writer.h"
#include "task/head.h"
#include "task/ids.h"

namespace baton::store::postgres {

// Implements Peers::take_queued in the open group. Throws sql::Failure.
std::vector<task::TaskHead> take_queued(Writer& writer, const std::vector<task::AgentName>& agents, int most);

}  // namespace baton::store::postgres
