// Advisory locks by which the programs that use a schema keep out of each other's way. But for `lock_nodes`
// they are of the link's session, and go with it.
//
// Threads: the link's. Errors: sql::Failure.
#pragma once

#include <cstdint>

#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// Of the whole schema: nodes share it; who changes its tables, copies it or waits for its turn has it alone.
enum class SchemaLock { shared, alone };

// False: somebody else is in the way.
bool try_lock(Link& link, SchemaLock lock);
void unlock(Link& link, SchemaLock lock);
bool is_locked(Link& link);
// Ends the sessions that have it in any way.
void end_lock_holders(Link& link);

// Says that this session is the node's. A node may have several.
void lock_node(Link& link, std::int64_t node);
bool has_sessions(Link& link, std::int64_t node);
// What they have under way ends without a trace, unless it is being committed.
void end_sessions(Link& link, std::int64_t node);

// Whether this session is the leader's now.
bool try_lead(Link& link);

// One program at a time changes which nodes there are. Ends with the transaction.
void lock_nodes(Link& link);

// All of this session's.
void unlock_all(Link& link);

}  // namespace baton::store::postgres
