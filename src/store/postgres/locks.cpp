#include "store/postgres/locks.h"

#include <string>

namespace baton::store::postgres {
namespace {

// Each kind has a class; a number within it is a hash, so what is meant is told by the name that it is of.
const std::string kSchema = "1111577678", kNode = "1111577679", kLeader = "1111577680";
const std::string kThis = "hashtext(current_schema())";

std::string node_hash(std::int64_t node) {
  return "hashtext(current_schema() || ' " + std::to_string(node) + "')";
}

// The sessions that hold a lock.
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
  return link.ask_text("SELECT " + name + arguments(kSchema, kThis)) == "t";
}

void unlock(Link& link, SchemaLock lock) {
  const std::string name = lock == SchemaLock::alone ? "pg_advisory_unlock" : "pg_advisory_unlock_shared";
  link.ask("SELECT " + name + arguments(kSchema, kThis));
}

bool is_locked(Link& link) {
  return link.ask_text("SELECT count(*)" + holders(kSchema, kThis)) != "0";
}

void end_lock_holders(Link& link) {
  end_holders(link, holders(kSchema, kThis));
}

// Shared, so that it is granted whoever has it.
void lock_node(Link& link, std::int64_t node) {
  link.ask("SELECT pg_advisory_lock_shared" + arguments(kNode, node_hash(node)));
}

bool has_sessions(Link& link, std::int64_t node) {
  return link.ask_text("SELECT count(*)" + holders(kNode, node_hash(node))) != "0";
}

void end_sessions(Link& link, std::int64_t node) {
  end_holders(link, holders(kNode, node_hash(node)));
}

bool try_lead(Link& link) {
  return link.ask_text("SELECT pg_try_advisory_lock" + arguments(kLeader, kThis)) == "t";
}

void lock_nodes(Link& link) {
  link.ask("SELECT pg_advisory_xact_lock" + arguments(kSchema, "hashtext(current_schema() || ' nodes')"));
}

void unlock_all(Link& link) {
  link.ask("SELECT pg_advisory_unlock_all()");
}

}  // namespace baton::store::postgres
