#include "store/postgres/lane/lane_dialect.h"

#include <string>
#include <vector>

#include "store/postgres/lane/dialect.h"
#include "store/postgres/lane/nodes.h"
#include "store/retention_store.h"

namespace baton::store::postgres {
namespace {

// The increment of the sequences.
constexpr std::int64_t kBlock = 1'000;
// How long a block is used. A node that creates few tasks must not give them keys far below those of other
// nodes. The other half of the allowed difference is left for the nodes' clocks.
constexpr base::Duration kBlockUsed = kKeysOutOfOrder / 2;
constexpr std::array<const char*, 4> kNext{"SELECT nextval('task_keys')", "SELECT nextval('context_keys')",
                                           "SELECT nextval('config_keys')",
                                           "SELECT nextval('delivery_keys')"};

// An index entry may take a third of a page, 2,704 bytes. This is the part left for a key's texts.
constexpr std::size_t kKeyTextsMax = 2'500;

}  // namespace

bool LaneDialect::fits_key(std::initializer_list<std::string_view> texts) const {
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += needs_escapes(text) ? escaped(text).size() : text.size();
  return bytes <= kKeyTextsMax;
}

// A rollback does not reset a sequence, so a block stays reserved for this node even if the group fails.
std::int64_t LaneDialect::new_key(sql::KeyOf kind) {
  Block& block = blocks_[static_cast<std::size_t>(kind)];
  const base::Timestamp now = clock_.now();
  if (block.next == block.end || now < block.reserved || now - block.reserved >= kBlockUsed) {
    sql::Query query = writer_.query(kNext[static_cast<std::size_t>(kind)]);
    query.step();
    block = {query.integer(0), query.integer(0) + kBlock, now};
  }
  return block.next++;
}

// Reads all deliveries with one round trip.
sql::WriterDialect::DeliveryRows LaneDialect::deliveries(const std::vector<DeliveryKey>& keys) {
  DeliveryRows rows;
  for (const DeliveryKey key : keys) rows.try_emplace(key);
  sql::Query query = writer_.query(
      "SELECT delivery_key, config_key, event_number, due_ms IS NOT NULL FROM deliveries "
      "WHERE delivery_key = ANY (CAST(? AS bigint[]))",
      keys_array(keys));
  while (query.step())
    rows[{query.integer(0)}] = DeliveryRow{{query.integer(1)}, {query.integer(2)}, query.truth(3)};
  return rows;
}

void LaneDialect::add_to_total(const task::AgentName& agent, const task::Caller& caller, task::State state,
                               std::int64_t more) {
  const std::string name(task::name_of(state));
  writer_.run(
      "/* apart */ INSERT INTO task_totals (node_id, lane, agent, caller, state, tasks) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (agent, caller, state, node_id, lane) "
      "DO UPDATE SET tasks = task_totals.tasks + excluded.tasks",
      writer_.lane().node, writer_.lane().lane, agent, caller, name, more);
  if (more < 0) {
    // Deletes the rows only if no other node is changing one of them, because its change would be lost.
    // Otherwise rows whose sum is 0 may stay until the caller's next change in this state, or until nodes
    // come and go.
#define BATON_ROWS_OF_TOTAL "FROM task_totals WHERE agent = ?1 AND caller = ?2 AND state = ?3"
    writer_.run("WITH held AS (SELECT node_id, lane, tasks " BATON_ROWS_OF_TOTAL
                " AND (SELECT sum(tasks) " BATON_ROWS_OF_TOTAL
                ") = 0 FOR UPDATE SKIP LOCKED) "
                "DELETE " BATON_ROWS_OF_TOTAL
                " AND (node_id, lane) IN (SELECT node_id, lane FROM held) AND "
                "(SELECT sum(tasks) FROM held) = 0 AND (SELECT count(*) FROM held) = "
                "(SELECT count(*) " BATON_ROWS_OF_TOTAL ")",
                agent, caller, name);
#undef BATON_ROWS_OF_TOTAL
  }
}

// Divides by zero if the context is gone; the writer reports that failure as raced.
void LaneDialect::keep_context(task::ContextKey context) {
  writer_.run("SELECT 1 / count(*) FROM (SELECT 1 FROM contexts WHERE context_key = ? FOR KEY SHARE) AS kept",
              context);
}

void LaneDialect::claim_context(task::ContextKey context) {
  writer_.run("SELECT 1 FROM contexts WHERE context_key = ? FOR UPDATE", context);
}

// Locks all configs first, in the order of their keys, so that no two nodes wait for each other. The second
// node to lock a config sees the changes of the first one.
void LaneDialect::wake_deliveries(const Waiting& waiting) {
  std::vector<PushConfigKey> configs;
  std::vector<task::EventNumber> events;
  for (const auto& [config, event] : waiting) {
    configs.push_back(config);
    events.push_back(event);
  }
  const std::string keys = keys_array(configs);
  writer_.run(
      "SELECT 1 FROM push_configs WHERE config_key = ANY (CAST(? AS bigint[])) ORDER BY config_key FOR "
      "UPDATE",
      keys);
  writer_.run(
      "UPDATE deliveries SET due_ms = created_ms, sender = ?3 WHERE delivery_key IN (SELECT "
      "(SELECT d.delivery_key FROM deliveries d WHERE d.config_key = n.config_key AND d.event_number >= "
      "n.event_number AND d.state = 'waiting' ORDER BY d.event_number LIMIT 1) FROM "
      "unnest(CAST(?1 AS bigint[]), CAST(?2 AS bigint[])) AS n (config_key, event_number) "
      "WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.config_key = n.config_key AND d.due_ms IS NOT "
      "NULL))",
      keys, keys_array(events), node());
}

}  // namespace baton::store::postgres
