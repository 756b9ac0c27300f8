// Steps of opening a database, shared by the store and both sides of a copy.
//
// Threads: one. Errors: functions that talk to the server also throw sql::Failure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

inline constexpr char kIsOpen[] = "the database is in use by another Baton";

// Like sql::error_of, but also explains what to do if the role lacks a right.
base::Error error_at_open(const sql::Failure& failure);

// Checks the server and the way to it (server_checks.h), then takes the schema's lock, alone, for the link's
// session. Fails with already_exists if a Baton has it.
base::Result<void> lock_checked(Link& link, const std::vector<std::string>& allows, const Address& address);

struct WayIn {
  std::vector<std::string> allows;
  bool waits_for_others = false;  // the caller has waited until there was no node
  std::function<void(int from, int to)> on_upgrade;
};
// Like `lock_checked`, but takes the lock shared, for a node. On success the schema is up to date. An older
// schema is upgraded; if more than additions are missing, only while there is no other node. Fails with
// already_exists if a Baton holds the lock alone, or if other nodes prevent the upgrade.
base::Result<void> share_schema(Link& link, const WayIn& way, const Address& address, base::Timestamp now);

// Waits until there is no node, and ends the sessions of nodes whose lease has expired. A free lock does not
// mean that its holder is gone: the database may have been restarted, and the holder is reconnecting. Calls
// `waits` repeatedly while a node has the database, or the database is unavailable. Returns false once
// `waits` has returned false.
bool wait_until_free(const Address& address, const std::function<bool()>& waits);

bool has_table(Link& link, const char* name);

// Returns copy::unfinished_error for a database that is an unfinished copy.
base::Error unfinished_error(Link& link);

}  // namespace baton::store::postgres
