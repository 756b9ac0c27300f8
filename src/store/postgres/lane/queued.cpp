#include "store/postgres/lane/queued.h"

#include <string>

#include "store/postgres/lane/nodes.h"
#include "store/sql/head_rows.h"

namespace baton::store::postgres {
std::vector<task::TaskHead> take_queued(Writer& writer, const std::vector<task::AgentName>& agents,
                                        int most) {
  // Skips rows that another node has locked.
  constexpr char kWaiting[] =
      "SELECT task_key FROM tasks t WHERE turn_state <> 'none' AND turn_state = 'queued' AND parent_key IS "
      "NULL AND awaited = 0 AND owner <> ?1 AND NOT EXISTS (SELECT FROM crashed_turns c WHERE c.task_key = "
      "t.task_key) AND EXISTS (SELECT FROM nodes n WHERE n.node_id = t.owner AND "
      "lease_until > clock_timestamp()) AND agent = ANY (CAST(?2 AS text[])) ORDER BY task_key + 0 LIMIT ?3 "
      "FOR UPDATE SKIP LOCKED";
  const std::int64_t me = writer.lane().node;
  std::vector<task::TaskKey> keys;
  {
    sql::Query query = static_cast<sql::Connection&>(writer).query(kWaiting, me, names_array(agents), most);
    while (query.step()) keys.push_back({query.integer(0)});
  }
  std::vector<task::TaskHead> heads;
  for (const task::TaskKey key : keys) {
    auto row = sql::find_head(writer, key);
    if (!row) continue;
    // The lock ends with the connection, so the stamp makes a group that is written again check that the row
    // is unchanged.
    const std::int64_t stamp = sql::stamp_of(row->head, row->alone);
    ++row->head.version.value;
    row->owner = {me};
    sql::set_owner(writer, *row, stamp);
    heads.push_back(std::move(row->head));
  }
  return heads;
}

}  // namespace baton::store::postgres
