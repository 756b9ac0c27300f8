#include "store/sql/crashed_turns.h"

#include "store/sql/failure.h"

namespace baton::store::sql {

void note_crashed_turns(Connection& connection) {
  connection.run(BATON_NOTE_CRASHED_TURNS("0", " AND (SELECT stopped FROM server) = 0"));
}

void forget_ended_turns(Connection& connection) {
  connection.run(
      "DELETE FROM crashed_turns WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.task_key = "
      "crashed_turns.task_key AND t.turn_state <> 'none' AND t.turn = crashed_turns.turn)");
}

void put_crashed_turn(Connection& connection, const CrashedTurn& turn) {
  if (turn.deaths == 0) return connection.run("DELETE FROM crashed_turns WHERE task_key = ?", turn.task);
  connection.run(
      "INSERT INTO crashed_turns (task_key, turn, deaths, alone, last_event, seen, quarantined_ms) "
      "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task_key) DO UPDATE SET turn = excluded.turn, "
      "deaths = excluded.deaths, alone = excluded.alone, last_event = excluded.last_event, "
      "seen = excluded.seen, quarantined_ms = excluded.quarantined_ms",
      turn.task, turn.turn, turn.deaths, turn.alone, turn.last_event, static_cast<int>(turn.seen),
      turn.quarantined ? base::to_ms(*turn.quarantined) : 0);
}

std::vector<CrashedTurn> read_crashed_turns(Connection& connection) {
  std::vector<CrashedTurn> turns;
  Query query = connection.query(
      "SELECT c.task_key, c.turn, c.deaths, c.alone, c.last_event, c.seen, CASE WHEN t.turn_state = "
      "'waiting' THEN c.quarantined_ms ELSE 0 END FROM crashed_turns c JOIN tasks t ON t.task_key = "
      "c.task_key WHERE t.turn_state <> 'none' AND t.turn = c.turn ORDER BY c.task_key");
  while (query.step()) {
    CrashedTurn turn{
        {query.integer(0)}, {query.integer(1)}, query.small(2), query.small(3), {query.integer(4)}, {}, {}};
    if (query.integer(5) < 0 || query.integer(5) > 2) throw damaged_row("a crashed turn");
    turn.seen = static_cast<CrashedTurn::Seen>(query.integer(5));
    if (query.integer(6) != 0) turn.quarantined = base::from_ms(query.integer(6));
    turns.push_back(turn);
  }
  return turns;
}

}  // namespace baton::store::sql
