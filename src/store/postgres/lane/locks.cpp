#include "store/postgres/lane/locks.h"

#include <string>

namespace baton::store::postgres {
namespace {

// Each kind of lock has a class of its own. The number within a class is the hash of a name, such as the
// schema's.
const std::string kSchemaClass = "1111577678", kNodeClass = "1111577679", kLeaderClass = "1111577680";
const std::string kThisSchema = "hashtext(current_schema())";

std::string node_hash(std::int64_t node) {
  return "hashtext(current_schema() || ' " + std::to_string(node) + "')";
}

// Returns the end of a statement that selects the sessions which hold a lock.
std::string holders(const std::string& lock_class, const std::string& hash) {
  return " FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = " +
         lock_class + " AND objid = " + hash +
         "::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
}

std::string arguments(const std::string& lock_class, const std::string& hash) {
  return "(" + lock_class + ", " + hash + ")";
}

void end_holders(Link& link, const std::string& held) {
  link.ask("SELECT pg_terminate_backend(pid)" + held + " AND pid <> pg_backend_pid()");
}

}  // namespace

bool try_lock(Link& link, SchemaLock lock) {
  const std::string name = lock == SchemaLock::alone ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared";
  return link.ask_text("SELECT " + name + arguments(kSchemaClass, kThisSchema)) == "t";
}

void unlock(Link& link, SchemaLock lock) {
  const std::string name = lock == SchemaLock::alone ? "pg_advisory_unlock" : "pg_advisory_unlock_shared";
  link.ask("SELECT " + name + arguments(kSchemaClass, kThisSchema));
}

bool is_locked(Link& link) {
  return link.ask_text("SELECT count(*)" + holders(kSchemaClass, kThisSchema)) != "0";
}

void end_lock_holders(Link& link) {
  end_holders(link, holders(kSchemaClass, kThisSchema));
}

// The lock is shared, so that it is granted even if other sessions hold it.
void lock_node(Link& link, std::int64_t node) {
  link.ask("SELECT pg_advisory_lock_shared" + arguments(kNodeClass, node_hash(node)));
}

bool has_sessions(Link& link, std::int64_t node) {
  return link.ask_text("SELECT count(*)" + holders(kNodeClass, node_hash(node))) != "0";
}

void end_sessions(Link& link, std::int64_t node) {
  end_holders(link, holders(kNodeClass, node_hash(node)));
}

bool try_lead(Link& link) {
  return link.ask_text("SELECT pg_try_advisory_lock" + arguments(kLeaderClass, kThisSchema)) == "t";
}

void lock_nodes(Link& link) {
  link.ask("SELECT pg_advisory_xact_lock" +
           arguments(kSchemaClass, "hashtext(current_schema() || ' nodes')"));
}

void unlock_all(Link& link) {
  link.ask("SELECT pg_advisory_unlock_all()");
}

}  // namespace baton::store::postgres
