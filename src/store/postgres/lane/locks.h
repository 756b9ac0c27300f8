// Advisory locks between the programs that use a schema. All except `lock_nodes` belong to the link's session
// and end with it.
//
// Threads: the link's. Errors: sql::Failure.
#pragma once

#include <cstdint>

#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// The lock of the whole schema. Nodes share it. A program that changes its tables, copies it or waits to take
// over holds it alone.
enum class SchemaLock { shared, alone };

// Returns false if another session's lock conflicts.
bool try_lock(Link& link, SchemaLock lock);
void unlock(Link& link, SchemaLock lock);
bool is_locked(Link& link);
// Ends all sessions that hold the schema's lock, shared or alone.
void end_lock_holders(Link& link);

// Marks this session as the node's. A node may have several sessions.
void lock_node(Link& link, std::int64_t node);
bool has_sessions(Link& link, std::int64_t node);
// Ends the node's sessions. Their open transactions are rolled back, unless they are being committed.
void end_sessions(Link& link, std::int64_t node);

// Tries to make this session the leader's. Returns whether it is.
bool try_lead(Link& link);

// Ensures that only one program at a time adds or removes nodes. Ends with the transaction.
void lock_nodes(Link& link);

// Releases all locks of this session.
void unlock_all(Link& link);

}  // namespace baton::store::postgres
