#include "store/sql/api_key_rows.h"

#include <algorithm>
#include <optional>

namespace baton::store::sql {
namespace {

using base::ErrorCode;
using base::fail;

std::optional<base::Timestamp> time_in(std::int64_t ms) {
  if (ms == 0) return std::nullopt;
  return base::from_ms(ms);
}

std::int64_t ms_of(const std::optional<base::Timestamp>& time) {
  return time ? base::to_ms(*time) : 0;
}

#define BATON_API_KEYS                                                                            \
  "SELECT key_id, digest, caller, role, scopes, agents, binds_children, created_by, created_ms, " \
  "lifetime_ms, expires_ms, revoked_ms, used_ms FROM api_keys "
ApiKey api_key_of(const Query& query) {
  ApiKey key;
  key.id = query.text(0);
  key.digest = query.text(1);
  key.caller = query.text(2);
  key.role = query.text(3);
  key.scopes = query.text(4);
  key.agents = query.text(5);
  key.binds_children = query.truth(6);
  key.by = query.text(7);
  key.created = base::from_ms(query.integer(8));
  if (const std::int64_t lifetime = query.integer(9); lifetime > 0)
    key.lifetime = std::chrono::milliseconds(lifetime);
  key.expires = time_in(query.integer(10));
  key.revoked = time_in(query.integer(11));
  key.used = time_in(query.integer(12));
  return key;
}

std::optional<ApiKey> find_api_key(Connection& connection, const std::string& id) {
  Query query = connection.query(BATON_API_KEYS "WHERE key_id = ?", id);
  if (!query.step()) return std::nullopt;
  return api_key_of(query);
}

std::int64_t valid_keys(Connection& connection, base::Timestamp at) {
  Query query = connection.query(
      "SELECT count(*) FROM api_keys WHERE revoked_ms = 0 AND (expires_ms = 0 OR expires_ms > ?)",
      base::to_ms(at));
  query.step();
  return query.integer(0);
}

}  // namespace

base::Result<void> write_api_keys(Connection& connection, const NewApiKey& made, base::Timestamp at) {
  const ApiKey& key = made.key;
  if (find_api_key(connection, key.id)) return fail(ErrorCode::already_exists, "the key already exists");
  if (!made.replaces.empty()) {
    const auto old = find_api_key(connection, made.replaces);
    if (!old || old->caller != key.caller) return fail(no_such_api_key());
    if (!old->is_valid(at)) return fail(api_key_is_over());
  }
  int valid = 0, ended = 0;
  {
    Query query = connection.query(BATON_API_KEYS "WHERE caller = ?", key.caller);
    while (query.step()) ++(counts(api_key_of(query), made, at) ? valid : ended);
  }
  if (valid >= kApiKeysPerCaller) return fail(too_many_api_keys());
  if (ended >= kEndedApiKeysPerCaller) return fail(too_many_ended_api_keys());
  if (valid_keys(connection, at) >= made.all_max) return fail(all_api_keys_taken());
  connection.run(
      "INSERT INTO api_keys (key_id, digest, caller, role, scopes, agents, binds_children, created_by, "
      "created_ms, lifetime_ms, expires_ms, revoked_ms, used_ms, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
      "?7, ?8, ?9, ?10, ?11, 0, 0, ?9)",
      key.id, key.digest, key.caller, key.role, key.scopes, key.agents, key.binds_children, key.by,
      base::to_ms(at), key.lifetime ? std::int64_t{key.lifetime->count()} : 0, ms_of(key.expires));
  if (made.replaces.empty()) return {};
  connection.run(
      "UPDATE api_keys SET expires_ms = ?2, changed = changed + 1 WHERE key_id = ?1 AND (expires_ms = 0 OR "
      "expires_ms > ?2)",
      made.replaces, base::to_ms(made.old_until));
  return {};
}

base::Result<void> write_api_keys(Connection& connection, const RevokedApiKey& revoked, base::Timestamp at) {
  const std::int64_t changed = connection.run_counted(
      "UPDATE api_keys SET revoked_ms = ?2, changed = changed + 1 WHERE key_id = ?1 AND revoked_ms = 0",
      revoked.id, base::to_ms(at));
  if (changed > 0) return {};
  if (!find_api_key(connection, revoked.id)) return fail(no_such_api_key());
  return fail(api_key_is_revoked());
}

base::Result<void> write_api_keys(Connection& connection, const UsedApiKeys& used, base::Timestamp) {
  for (const auto& [id, at] : used.keys)
    connection.run("UPDATE api_keys SET used_ms = ?2 WHERE key_id = ?1 AND used_ms < ?2", id,
                   base::to_ms(at));
  return {};
}

base::Result<void> write_api_keys(Connection& connection, const OldApiKeys& old, base::Timestamp) {
  connection.run(
      "DELETE FROM api_keys WHERE (revoked_ms > 0 AND revoked_ms < ?1) OR (expires_ms > 0 AND expires_ms < "
      "?1)",
      base::to_ms(old.before));
  return {};
}

base::Result<void> write_api_keys(Connection& connection, const ApiKeysOfCaller& gone, base::Timestamp) {
  const std::int64_t keys = connection.run_counted("DELETE FROM api_keys WHERE caller = ?", gone.caller);
  if (gone.gone != nullptr) *gone.gone = keys;
  return {};
}

std::vector<ApiKey> read_api_keys(Connection& connection) {
  std::vector<ApiKey> keys;
  Query query = connection.query(BATON_API_KEYS "ORDER BY created_ms, key_id");
  while (query.step()) keys.push_back(api_key_of(query));
  return keys;
}

base::Result<ApiKey> read_api_key(Connection& connection, const std::string& id) {
  auto found = find_api_key(connection, id);
  if (!found) return fail(no_such_api_key());
  return std::move(*found);
}

// `changed` begins at the time of creation, so that a new key does not stand for a removed one.
std::int64_t state_of_api_keys(Connection& connection) {
  Query query = connection.query("SELECT CAST(coalesce(sum(changed), 0) + count(*) AS bigint) FROM api_keys");
  query.step();
  return query.integer(0);
}

}  // namespace baton::store::sql
