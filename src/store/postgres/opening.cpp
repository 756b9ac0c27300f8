#include "store/postgres/opening.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/embedded.h"
#include "store/copy/unfinished.h"
#include "store/postgres/lane/locks.h"
#include "store/postgres/lane/nodes.h"
#include "store/postgres/migrations.h"
#include "store/postgres/nodes/lease.h"
#include "store/postgres/server_checks.h"

namespace baton::store::postgres {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// kAlonePatience: the server needs a moment to notice that a program was killed. kSharedPatience: another
// program that is opening the database may have to create its tables first.
constexpr milliseconds kAlonePatience(2'000), kSharedPatience(10'000), kTryEvery(20);
constexpr milliseconds kLookEvery(100), kAwayPause(200);
// The time that the node with the schema's lock may need to reconnect after the database has returned.
constexpr milliseconds kReturn(3'000);

constexpr char kStopOthers[] =
    "the database has the tables of an older Baton, and an older server is using them: stop all other "
    "servers, then start this one, which upgrades the tables";

struct Leases {
  std::string last;  // when the last lease of all nodes expires; empty if there are no nodes
  bool is_over = true;
};

// Reads the leases in a way that works with the tables of every version.
Leases leases_of(Link& link) {
  if (!has_table(link, "nodes")) return {};
  const Rows rows = link.ask(
      "SELECT max(lease_until), coalesce(max(lease_until) <= clock_timestamp(), true) FROM nodes n "
      "WHERE coalesce(to_jsonb(n)->>'state', '') <> 'left'");
  return {text_at(rows.get(), 0, 0), integer_at(rows.get(), 0, 1) != 0};
}

Result<void> check_way(Link& link, const std::vector<std::string>& allows, const Address& address) {
  if (auto checked = check_server(link, allows); !checked) return checked;
  Link other(address);
  return check_sessions(link, other);
}

// Whether no node renews its lease. Call it when all nodes have lost their sessions.
bool are_gone(Link& link) {
  const std::string last = leases_of(link).last;
  if (last.empty()) return true;
  for (const auto since = steady_clock::now(); steady_clock::now() - since < kGoneAfter;) {
    std::this_thread::sleep_for(kLookEvery);
    if (leases_of(link).last != last) return false;
  }
  return true;
}

// Upgrades the tables. The link holds the schema's lock alone, and shares it at the end; from then on other
// nodes may enter.
Result<void> upgrade(Link& link, const WayIn& way, base::Timestamp now) {
  auto migrated = migrate(link, base::embedded_files(), now, way.on_upgrade);
  if (!migrated) return fail(migrated.error());
  forget_nodes(link);
  try_lock(link, SchemaLock::shared);
  unlock(link, SchemaLock::alone);
  return {};
}

}  // namespace

base::Error error_at_open(const sql::Failure& failure) {
  base::Error error = sql::error_of(failure, "opening");
  const auto* of_link = dynamic_cast<const LinkFailure*>(&failure);
  if (of_link != nullptr && of_link->state() == "42501") {
    error.code = ErrorCode::invalid_argument;
    error.for_caller =
        "the database role may not create tables: GRANT USAGE, CREATE ON SCHEMA public to it, or make it the "
        "owner of a schema and of its tables";
  }
  return error;
}

Result<void> lock_checked(Link& link, const std::vector<std::string>& allows, const Address& address) {
  if (auto checked = check_way(link, allows, address); !checked) return checked;
  for (const auto until = steady_clock::now() + kAlonePatience; !try_lock(link, SchemaLock::alone);) {
    if (steady_clock::now() >= until) return fail(ErrorCode::already_exists, kIsOpen);
    std::this_thread::sleep_for(kTryEvery);
  }
  return {};
}

Result<void> share_schema(Link& link, const WayIn& way, const Address& address, base::Timestamp now) {
  if (way.waits_for_others) {
    if (auto locked = lock_checked(link, way.allows, address); !locked) return fail(locked.error());
    return upgrade(link, way, now);
  }
  if (auto checked = check_way(link, way.allows, address); !checked) return fail(checked.error());
  const auto begun = steady_clock::now();
  while (true) {
    const bool is_shared = try_lock(link, SchemaLock::shared);
    if (is_shared) {
      const auto tables = state_of_tables(link, base::embedded_files());
      if (!tables) return fail(tables.error());
      if (*tables == Tables::fit) return {};
      if (*tables == Tables::lack_additions)
        return migrate(link, base::embedded_files(), now, way.on_upgrade);
      unlock(link, SchemaLock::shared);
    }
    if (try_lock(link, SchemaLock::alone)) {
      if (are_gone(link)) return upgrade(link, way, now);
      unlock(link, SchemaLock::alone);
    }
    if (steady_clock::now() - begun >= (is_shared ? kAlonePatience : kSharedPatience))
      return fail(ErrorCode::already_exists, is_shared ? kStopOthers : kIsOpen);
    std::this_thread::sleep_for(kTryEvery);
  }
}

bool wait_until_free(const Address& address, const std::function<bool()>& waits) {
  std::unique_ptr<Link> link;
  std::string last;
  auto unchanged_since = steady_clock::now();
  auto back_since = unchanged_since - kReturn;
  while (true) {
    milliseconds pause = kLookEvery;
    try {
      if (!link) link = std::make_unique<Link>(address);
      link->set_patience(kServerPatience);
      const bool is_held = is_locked(*link);
      const Leases found = leases_of(*link);
      if (is_held || found.last != last) unchanged_since = steady_clock::now();
      last = found.last;
      // No node could renew its lease while the database was unavailable.
      const bool may_judge = steady_clock::now() - back_since >= kReturn;
      const bool is_over = found.is_over && may_judge;
      const bool is_gone = is_over || (may_judge && steady_clock::now() - unchanged_since >= kGoneAfter);
      if (!is_held && is_gone) return true;
      if (!found.last.empty() && is_over) end_lock_holders(*link);
    } catch (const sql::Failure&) {
      link.reset();
      back_since = unchanged_since = steady_clock::now();
      pause = kAwayPause;
    }
    if (!waits()) return false;
    std::this_thread::sleep_for(pause);
  }
}

bool has_table(Link& link, const char* name) {
  return link.ask_text(
             "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname "
             "= '" +
             std::string(name) + "'") != "0";
}

base::Error unfinished_error(Link& link) {
  return copy::unfinished_error(link.ask_text("SELECT source FROM unfinished_copy"));
}

}  // namespace baton::store::postgres
