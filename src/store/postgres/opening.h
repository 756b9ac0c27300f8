// What the store and both sides of a copy do when they open a database.
//
// Threads: one. Errors: what talks to the server throws sql::Failure as well.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

inline constexpr char kIsOpen[] = "another Baton has the database open";

// As sql::error_of, and says what to do about a role that lacks a right.
base::Error error_at_open(const sql::Failure& failure);

// Checks the server and the way to it (server_checks.h), then takes the schema's lock, alone, for the link's
// session. Fails with already_exists if a Baton has it.
base::Result<void> lock_checked(Link& link, const std::vector<std::string>& allows, const Address& address);

struct WayIn {
  std::vector<std::string> allows;
  bool waits_for_others = false;  // has waited until there was no node
  std::function<void(int from, int to)> on_upgrade;
};
// The same for a node: it shares the lock in the end, and the schema is the newest. Upgrades it if no other
// node is there; fails with already_exists if one is.
base::Result<void> share_schema(Link& link, const WayIn& way, const Address& address, base::Timestamp now);

// Waits until no node is there, and ends the sessions of those whose lease is over. A lock that is free does
// not mean that its holder is gone: the database may have been restarted, and the holder is on its way back.
// `waits` is asked while somebody has the database, or it is away. False: it said no.
bool wait_until_free(const Address& address, const std::function<bool()>& waits);

bool has_table(Link& link, const char* name);

// copy::unfinished_error of a database that is one.
base::Error unfinished_error(Link& link);

}  // namespace baton::store::postgres
