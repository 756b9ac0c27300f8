#include "store/postgres/lane/nodes.h"

#include <array>
#include <cstdlib>

#include "json/document.h"
#include "json/writer.h"
#include "store/postgres/lane/locks.h"
#include "store/sql/crashed_turns.h"

namespace baton::store::postgres {
namespace {

using sql::Parameter;
using std::chrono::milliseconds;

// A closed lane tells a node that another one has taken over. Without it, the node would conclude that the
// database has lost confirmed commits. Lanes of nodes this far back are deleted, because those nodes will not
// ask any more.
constexpr std::int64_t kClosedLanesKept = 1'000;

std::string in_ms(milliseconds time) {
  return "interval '" + std::to_string(time.count()) + " milliseconds'";
}

// Runs a transaction that other nodes wait for. A program that is frozen within it loses its session.
template <class F>
auto in_transaction(Link& link, F&& work) -> decltype(work()) {
  try {
    link.ask("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
    link.ask("SET LOCAL idle_in_transaction_session_timeout = '2s'");
    link.ask("SET LOCAL lock_timeout = '5s'");
    lock_nodes(link);
    auto result = work();
    link.ask("COMMIT");
    return result;
  } catch (const sql::Failure&) {
    if (!link.is_lost()) link.ask("ROLLBACK");
    throw;
  }
}

// Closes the lanes of nodes without a row. Waits for a running group of such a lane.
void close_lanes(Link& link, const std::string& me) {
  link.ask("UPDATE lanes SET last_group = " + std::to_string(kClosedLane) +
           " WHERE last_group >= 0 AND NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = lanes.node_id)");
  link.ask("DELETE FROM lanes WHERE last_group = " + std::to_string(kClosedLane) + " AND node_id < " + me +
           " - " + std::to_string(kClosedLanesKept));
}

// Notes the running turns of a node whose program has crashed.
void note_crashed_turns(Link& link, std::int64_t node) {
  const std::array values{Parameter(node)};
  link.send(BATON_NOTE_CRASHED_TURNS("$1", ""), values);
  link.finish();
}

// Sums the totals of nodes without a row into common rows.
void fold_totals(Link& link) {
  link.ask(
      "WITH gone AS (DELETE FROM task_totals t WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = "
      "t.node_id) RETURNING agent, caller, state, tasks) "
      "INSERT INTO task_totals (node_id, lane, agent, caller, state, tasks) "
      "SELECT 0, 0, agent, caller, state, sum(tasks)::bigint FROM gone GROUP BY agent, caller, state "
      "HAVING sum(tasks) <> 0");
}

std::vector<task::TaskKey> keys_of(const Rows& rows) {
  std::vector<task::TaskKey> keys;
  for (int i = 0; i < PQntuples(rows.get()); ++i) keys.push_back({integer_at(rows.get(), i, 0)});
  return keys;
}

// Adopts the due deliveries of nodes without a row, or of no node.
void adopt_deliveries(Link& link, const std::string& me) {
  link.ask("UPDATE deliveries d SET sender = " + me +
           " WHERE due_ms IS NOT NULL AND NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = d.sender)");
}

// Adopts the tasks of these agents that belong to no node or to a node without a row. If `agents` is null,
// adopts the tasks of all agents if there are no other nodes. Rows are locked in the order of their keys, as
// by every writer; "+ 0" makes PostgreSQL use the index of tasks with a turn.
std::vector<task::TaskKey> adopt_tasks(Link& link, std::int64_t me,
                                       const std::vector<task::AgentName>* agents) {
  // Only tasks that another node may have in memory need a new version.
  constexpr char kAdopt[] =
      "WITH others AS (SELECT count(*) AS number FROM nodes WHERE node_id <> $1), "
      "chosen AS (SELECT task_key FROM tasks t, others WHERE turn_state <> 'none' AND NOT EXISTS (SELECT "
      "FROM nodes n WHERE n.node_id = t.owner) AND (($2 <> 0 AND number = 0) OR agent LIKE '%://%' OR agent "
      "= "
      "ANY (CAST($3 AS text[]))) ORDER BY task_key + 0 FOR UPDATE OF t) "
      "UPDATE tasks SET owner = $1, version = version + least(number, 1) FROM chosen, others WHERE "
      "tasks.task_key = chosen.task_key RETURNING tasks.task_key";
  const std::string names = names_array(agents == nullptr ? std::vector<task::AgentName>() : *agents);
  const std::array values{Parameter(me), Parameter(agents == nullptr), Parameter(names)};
  link.send(kAdopt, values);
  return keys_of(link.finish());
}

}  // namespace

void forget_nodes(Link& link) {
  link.ask("DELETE FROM nodes");
}

std::int64_t enter(Link& link, const NewNode& node) {
  const std::string me = link.ask_text("SELECT nextval('node_ids')");
  return in_transaction(link, [&] {
    link.ask("DELETE FROM nodes WHERE state = 'left'");
    close_lanes(link, me);
    fold_totals(link);
    adopt_deliveries(link, me);
    adopt_tasks(link, std::stoll(me), nullptr);
    link.ask("INSERT INTO lanes (node_id, lane, last_group) VALUES (" + me + ", 1, 0)");
    // Inserts the row last: other nodes see it once it is committed, and by then little of its lease must
    // have passed.
    const std::array values{Parameter(std::stoll(me)), Parameter(base::to_ms(node.started)),
                            Parameter(node.lease.count()), Parameter(node.name), Parameter(node.version)};
    link.send(
        "INSERT INTO nodes (node_id, started_ms, lease_until, name, version, state, knows) VALUES ($1, $2, "
        "clock_timestamp() + $3 * interval '1 millisecond', $4, $5, 'joining', $1)",
        values);
    link.finish();
    return std::stoll(me);
  });
}

std::optional<Renewed> renew(Link& link, std::int64_t node, const SignOfLife& sign) {
  constexpr char kRenew[] =
      "WITH renewed AS (UPDATE nodes SET lease_until = clock_timestamp() + $2 * interval '1 millisecond', "
      "knows = $3, state = $4, running = $5, queued = $6, draining = $7, lag_ms = $8, database_us = $9 "
      "WHERE node_id = $1 AND state <> 'left' RETURNING asked_to_drain) "
      "SELECT n.node_id, n.knows, n.lease_until::text, n.lease_until < clock_timestamp(), "
      "n.lease_until < clock_timestamp() - interval '1 minute', n.state = 'joining', n.state = 'left', "
      "r.asked_to_drain, pg_postmaster_start_time()::text, "
      "clock_timestamp() > pg_postmaster_start_time() + $2 * interval '1 millisecond' "
      "FROM renewed r CROSS JOIN nodes n ORDER BY n.node_id";
  static const std::string kJoining = "joining", kServing = "serving";
  const NodeReport& report = sign.report;
  const std::array values{Parameter(node),
                          Parameter(sign.lease.count()),
                          Parameter(sign.knows),
                          Parameter(sign.is_joining ? kJoining : kServing),
                          Parameter(report.running),
                          Parameter(report.queued),
                          Parameter(report.draining),
                          Parameter(report.lag.count()),
                          Parameter(sign.database.count())};
  link.send(kRenew, values);
  const Rows rows = link.finish();
  if (PQntuples(rows.get()) == 0) return std::nullopt;
  Renewed renewed{
      integer_at(rows.get(), 0, 7) != 0, text_at(rows.get(), 0, 8), integer_at(rows.get(), 0, 9) != 0, {}};
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    const auto number = [&](int column) { return integer_at(rows.get(), i, column); };
    if (number(0) == node) continue;
    renewed.others.push_back({number(0), number(1), text_at(rows.get(), i, 2), number(3) != 0, number(4) != 0,
                              number(5) != 0, number(6) != 0});
  }
  return renewed;
}

void set_agents(Link& link, std::int64_t node, const std::string& agents) {
  const std::array values{Parameter(node), Parameter(agents)};
  link.send("UPDATE nodes SET agents = $2 WHERE node_id = $1 AND state <> 'left'", values);
  link.finish();
}

bool take_over(Link& link, std::int64_t node, milliseconds lease, const SeenNode& dead,
               const std::vector<task::AgentName>* agents, Taken& taken) {
  // A crashed program has no sessions. A program that is frozen or cut off has sessions and has only lost its
  // lease.
  const bool has_died = !dead.has_left && !has_sessions(link, dead.id);
  // An incomplete group in an open session would keep its lane locked.
  if (!dead.has_left) end_sessions(link, dead.id);
  const std::string me = std::to_string(node);
  return in_transaction(link, [&] {
    // Renews this node's lease, so that a node which considers this one dead must check again.
    const Rows alive = link.ask("UPDATE nodes SET lease_until = clock_timestamp() + " + in_ms(lease) +
                                " WHERE node_id = " + me + " AND state <> 'left' RETURNING 1");
    if (PQntuples(alive.get()) == 0) return false;
    const Rows ended = link.ask("DELETE FROM nodes WHERE node_id = " + std::to_string(dead.id) +
                                " AND lease_until = '" + dead.lease + "'::timestamptz RETURNING draining");
    if (PQntuples(ended.get()) == 0) return false;
    // A draining node was asked to stop, so its end is no crash.
    if (has_died && integer_at(ended.get(), 0, 0) == 0) note_crashed_turns(link, dead.id);
    close_lanes(link, me);
    fold_totals(link);
    adopt_deliveries(link, me);
    taken = adopt_tasks(link, node, agents);
    return true;
  });
}

void adopt(Link& link, std::int64_t node, const std::vector<task::AgentName>& agents, Taken& taken) {
  in_transaction(link, [&] {
    taken = adopt_tasks(link, node, &agents);
    return true;
  });
}

std::vector<task::TaskKey> own_of(Link& link, std::int64_t node, const std::vector<task::TaskKey>& tasks) {
  const std::string keys = keys_array(tasks);
  const std::array values{Parameter(node), Parameter(keys)};
  // The transaction that took them over may still be running, in a lost session.
  return in_transaction(link, [&] {
    link.send(
        "SELECT task_key FROM tasks WHERE owner = $1 AND turn_state <> 'none' AND task_key = ANY (CAST($2 AS "
        "bigint[]))",
        values);
    return keys_of(link.finish());
  });
}

void leave(Link& link, std::int64_t node) {
  link.ask(
      "UPDATE nodes SET state = 'left', lease_until = least(lease_until, clock_timestamp()) WHERE "
      "node_id = " +
      std::to_string(node));
}

std::vector<Node> all_nodes(sql::Connection& connection) {
  sql::Query query = connection.query(
      "SELECT node_id, name, version, started_ms, "
      "(extract(epoch FROM lease_until - clock_timestamp()) * 1000)::bigint, running, queued, draining, "
      "lag_ms, database_us, state = 'joining', asked_to_drain, agents FROM nodes WHERE state <> 'left' ORDER "
      "BY node_id");
  std::vector<Node> nodes;
  while (query.step()) {
    Node node{{query.integer(0)},
              query.text(1),
              query.text(2),
              base::from_ms(query.integer(3)),
              milliseconds(query.integer(4)),
              {query.small(5), query.small(6), query.truth(7), milliseconds(query.integer(8))},
              std::chrono::microseconds(query.integer(9)),
              query.truth(10),
              query.truth(11),
              {}};
    const std::string text = query.text(12);
    const auto agents = json::Document::view_of(text);
    for (const json::Value agent : agents.root()) {
      std::vector<std::string> fields;
      for (const json::Value field : agent) fields.push_back(field.str());
      if (fields.size() < 2) continue;
      const std::int64_t changed = fields.size() > 2 ? std::strtoll(fields[2].c_str(), nullptr, 10) : 0;
      node.agents.push_back({{fields[0]}, fields[1], base::from_ms(changed)});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

bool ask_to_drain(Link& link, NodeId node) {
  const Rows asked =
      link.ask("UPDATE nodes SET asked_to_drain = 1 WHERE node_id = " + std::to_string(node.value) +
               " AND state <> 'left' RETURNING 1");
  return PQntuples(asked.get()) == 1;
}

// {"a","b"}
std::string names_array(const std::vector<task::AgentName>& agents) {
  std::string text = "{";
  for (const task::AgentName& agent : agents) {
    text += text.size() == 1 ? "\"" : ",\"";
    for (const char c : agent.value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

std::string encode_agents(const std::vector<NodeAgent>& agents) {
  std::string text;
  json::Writer out(text);
  out.each(agents, [&](const NodeAgent& agent) {
    out.strings({agent.name.value, agent.digest, std::to_string(base::to_ms(agent.changed))});
  });
  return text;
}

}  // namespace baton::store::postgres
