// What the store and both sides of a copy do when they open a database.
//
// Threads: one. Errors: what talks to the server throws sql::Failure as well.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres/link.h"

namespace baton::store::postgres {

inline constexpr char kIsOpen[] = "another Baton has the database open";

// As sql::error_of, and says what to do about a role that lacks a right.
base::Error error_at_open(const sql::Failure& failure);

// Checks the server and the way to it (server_checks.h), then takes the schema's lock for the link's session.
// Fails with already_exists if another Baton has it.
base::Result<void> lock_checked(Link& link, const std::vector<std::string>& allows, const Address& address);

// Makes this process a node, the only one: others that were are dead, and what they counted is kept together.
// Its lane is 1. `lease`: how long it counts as alive (lease.h).
std::int64_t register_node(Link& link, base::Timestamp now, std::chrono::milliseconds lease);

bool has_table(Link& link, const char* name);

// copy::unfinished_error of a database that is one.
base::Error unfinished_error(Link& link);

}  // namespace baton::store::postgres
