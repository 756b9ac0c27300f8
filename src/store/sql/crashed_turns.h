// Rows of `crashed_turns`: the turns that were running when their program crashed. Everything throws
// sql::Failure.
#pragma once

#include <vector>

#include "store/operator_store.h"
#include "store/sql/connection.h"

namespace baton::store::sql {

// Notes the running turns of a program that has crashed: those with the owner OWNER, if CONDITION is true. A
// turn that waits for children is not running. Turns noted by one statement crashed together.
#define BATON_NOTE_CRASHED_TURNS(OWNER, CONDITION)                                                          \
  "WITH died AS (SELECT t.task_key, t.turn, CASE WHEN c.turn = t.turn AND c.deaths >= 3 THEN 1 ELSE 0 END " \
  "AS suspect FROM tasks t LEFT JOIN crashed_turns c ON c.task_key = t.task_key WHERE t.turn_state <> "     \
  "'none' AND t.turn_state = 'running' AND t.owner = " OWNER CONDITION                                      \
  " AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.parent_key = t.task_key AND k.detached = 0 AND "          \
  "(k.turn_state <> 'none' OR k.state IN ('input-required', 'auth-required')))) "                           \
  "INSERT INTO crashed_turns (task_key, turn, deaths, alone, last_event, seen, quarantined_ms) "            \
  "SELECT task_key, turn, 0, 0, 0, CASE WHEN suspect = 1 AND (SELECT sum(suspect) FROM died) = 1 THEN 2 "   \
  "ELSE 1 END, 0 FROM died WHERE task_key > 0 ON CONFLICT (task_key) DO UPDATE SET "                        \
  "deaths = CASE WHEN crashed_turns.turn = excluded.turn THEN crashed_turns.deaths ELSE 0 END, "            \
  "alone = CASE WHEN crashed_turns.turn = excluded.turn THEN crashed_turns.alone ELSE 0 END, "              \
  "quarantined_ms = CASE WHEN crashed_turns.turn = excluded.turn THEN crashed_turns.quarantined_ms "        \
  "ELSE 0 END, turn = excluded.turn, seen = excluded.seen"
static_assert(kSuspectDeaths == 3, "the statement above says so");

// Notes the running turns in a database that is not shared, unless its program was asked to stop.
void note_crashed_turns(Connection& connection);
void forget_ended_turns(Connection& connection);
void put_crashed_turn(Connection& connection, const CrashedTurn& turn);
std::vector<CrashedTurn> read_crashed_turns(Connection& connection);

}  // namespace baton::store::sql
