#include "store/sql/page_sources.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/sql/context_rows.h"
#include "store/sql/failure.h"
#include "store/task_filter.h"

namespace baton::store::sql {
namespace {

constexpr int kPieceMax = 256;
constexpr int kPairPieceMax = 16;
// The number of rows between two checks of the time.
constexpr int kRowsUnwatched = 64;

// The columns that candidate_of() reads. The index contains all of them.
#define BATON_CANDIDATES "SELECT t.task_key, t.status_ms, t.state, t.agent, t.caller FROM tasks t INDEXED BY "
#define BATON_AT_REST "WHERE t.turn_state = 'none' AND t.hidden = 0 "
#define BATON_NEWER \
  " AND (t.status_ms, t.task_key) < (?, ?) ORDER BY t.status_ms DESC, t.task_key DESC LIMIT ?"
#define BATON_OLDER " AND (t.status_ms, t.task_key) > (?, ?) ORDER BY t.status_ms, t.task_key LIMIT ?"
constexpr const char* kByTime[] = {BATON_CANDIDATES "tasks_by_time " BATON_AT_REST BATON_NEWER,
                                   BATON_CANDIDATES "tasks_by_time " BATON_AT_REST BATON_OLDER};
constexpr const char* kInState[] = {
    BATON_CANDIDATES "tasks_not_completed " BATON_AT_REST
                     "AND t.state <> 'completed' AND t.state = ? " BATON_NEWER,
    BATON_CANDIDATES "tasks_not_completed " BATON_AT_REST
                     "AND t.state <> 'completed' AND t.state = ? " BATON_OLDER};
constexpr const char* kOfPair[] = {
    BATON_CANDIDATES "tasks_listed " BATON_AT_REST
                     "AND t.agent = ? AND t.caller = ? AND t.status_ms < ? ORDER BY t.status_ms DESC",
    BATON_CANDIDATES "tasks_listed " BATON_AT_REST
                     "AND t.agent = ? AND t.caller = ? AND t.status_ms > ? ORDER BY t.status_ms"};
#undef BATON_CANDIDATES
#undef BATON_AT_REST
#undef BATON_NEWER
#undef BATON_OLDER

Candidate candidate_of(const Query& query) {
  const auto state = task::state_named(query.text(2));
  if (!state) throw damaged_row("unknown state");
  return {{base::from_ms(query.integer(1)), {query.integer(0)}}, *state, query.text(3), query.text(4)};
}

std::vector<Candidate> candidates_in(Query query) {
  std::vector<Candidate> piece;
  while (query.step()) piece.push_back(candidate_of(query));
  return piece;
}

// Returns a place before the first task of a list.
TaskPlace start_of(bool oldest_first) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::int64_t outside = oldest_first ? Limits::min() : Limits::max();
  return {oldest_first ? base::Timestamp::min() : base::Timestamp::max(), {outside}};
}

std::int64_t ms_of(const TaskPlace& place) {
  if (place.status_at == base::Timestamp::max()) return std::numeric_limits<std::int64_t>::max();
  if (place.status_at == base::Timestamp::min()) return std::numeric_limits<std::int64_t>::min();
  return base::to_ms(place.status_at);
}

void put_in_list_order(std::vector<Candidate>& all, bool oldest_first) {
  std::ranges::sort(all, [oldest_first](const Candidate& a, const Candidate& b) {
    return comes_first(a.place, b.place, oldest_first);
  });
}

// Reads a piece that does not end within a millisecond, because the pair's index has the tasks of one
// millisecond in the order of their public ids.
std::vector<Candidate> piece_of_pair(Query query, bool oldest_first) {
  std::vector<Candidate> piece;
  while (query.step()) {
    Candidate next = candidate_of(query);
    const bool is_enough = std::ssize(piece) >= kPairPieceMax;
    if (is_enough && next.place.status_at != piece.back().place.status_at) break;
    piece.push_back(std::move(next));
  }
  put_in_list_order(piece, oldest_first);
  return piece;
}

std::vector<task::TaskKey> task_keys_in(Query query) {
  std::vector<task::TaskKey> keys;
  while (query.step()) keys.push_back({query.integer(0)});
  return keys;
}

}  // namespace

const Candidate* PageSource::peek() {
  while (piece_.empty() && !is_over_) {
    std::vector<Candidate> piece = refill_(last_);
    if (piece.empty()) {
      is_over_ = true;
    } else {
      last_ = piece.back().place;
      piece_.assign(std::make_move_iterator(piece.begin()), std::make_move_iterator(piece.end()));
    }
  }
  return piece_.empty() ? nullptr : &piece_.front();
}

PageSource PageSource::by_time(Connection& connection, const Reading& reading) {
  return PageSource([&connection, reading](const std::optional<TaskPlace>& last) {
    const TaskPlace from = last ? *last : reading.after.value_or(start_of(reading.oldest_first));
    return candidates_in(connection.query(kByTime[reading.oldest_first], ms_of(from), from.key, kPieceMax));
  });
}

PageSource PageSource::in_state(Connection& connection, const Reading& reading, task::State state) {
  return PageSource([&connection, reading, state](const std::optional<TaskPlace>& last) {
    const TaskPlace from = last ? *last : reading.after.value_or(start_of(reading.oldest_first));
    return candidates_in(connection.query(kInState[reading.oldest_first], std::string(task::name_of(state)),
                                          ms_of(from), from.key, kPieceMax));
  });
}

PageSource PageSource::of_pair(Connection& connection, const Reading& reading, std::string agent,
                               std::string caller) {
  return PageSource([&connection, reading, agent = std::move(agent),
                     caller = std::move(caller)](const std::optional<TaskPlace>& last) {
    std::int64_t beyond = ms_of(last ? *last : reading.after.value_or(start_of(reading.oldest_first)));
    // The millisecond of `after` is read again, because some of its tasks may not have been shown yet.
    if (!last && reading.after) beyond += reading.oldest_first ? -1 : 1;
    while (true) {
      auto piece = piece_of_pair(connection.scan(kOfPair[reading.oldest_first], agent, caller, beyond),
                                 reading.oldest_first);
      if (piece.empty() || !reading.after) return piece;
      beyond = ms_of(piece.back().place);
      std::erase_if(piece, [&](const Candidate& each) {
        return !comes_first(*reading.after, each.place, reading.oldest_first);
      });
      if (!piece.empty()) return piece;
    }
  });
}

PageSource PageSource::of_keys(Connection& connection, const Reading& reading,
                               const std::vector<task::TaskKey>& keys, bool& is_whole) {
  std::vector<Candidate> all;
  int unwatched = 0;
  for (const task::TaskKey key : keys) {
    if (++unwatched % kRowsUnwatched == 0 && reading.is_over()) {
      is_whole = false;
      break;
    }
    Query query = connection.query(
        "SELECT task_key, status_ms, state, agent, caller FROM tasks WHERE task_key = ?", key);
    if (!query.step()) continue;
    Candidate found = candidate_of(query);
    if (!reading.after || comes_first(*reading.after, found.place, reading.oldest_first))
      all.push_back(std::move(found));
  }
  put_in_list_order(all, reading.oldest_first);
  return PageSource([all = std::move(all)](const std::optional<TaskPlace>& last) {
    return last ? std::vector<Candidate>() : all;
  });
}

PageSource PageSource::with_turn(Connection& connection, const Reading& reading, const TaskFilter& filter) {
  std::vector<Candidate> all = candidates_in(connection.query(
      "SELECT task_key, status_ms, state, agent, caller FROM tasks INDEXED BY tasks_unfinished WHERE "
      "turn_state <> 'none' AND (?1 = '' OR agent = ?1) AND " BATON_IS_OF("?2"),
      filter.agent, filter.caller));
  std::erase_if(all, [&](const Candidate& each) {
    return reading.after && !comes_first(*reading.after, each.place, reading.oldest_first);
  });
  put_in_list_order(all, reading.oldest_first);
  return PageSource([all = std::move(all)](const std::optional<TaskPlace>& last) {
    return last ? std::vector<Candidate>() : all;
  });
}

std::vector<task::TaskKey> keys_with_turn(Connection& connection, const TaskFilter& filter) {
  if (filter.agent.empty()) {
    return task_keys_in(
        connection.query("SELECT task_key FROM tasks INDEXED BY tasks_unfinished WHERE turn_state <> 'none' "
                         "AND " BATON_IS_OF("?1"),
                         filter.caller));
  }
  return task_keys_in(connection.query(
      "SELECT task_key FROM tasks INDEXED BY tasks_unfinished WHERE turn_state <> 'none' AND agent = ?1 "
      "AND " BATON_IS_OF("?2"),
      filter.agent, filter.caller));
}

std::vector<task::TaskKey> keys_of_parent(Connection& connection, task::TaskKey parent) {
  return task_keys_in(
      connection.query("SELECT task_key FROM tasks INDEXED BY tasks_by_parent WHERE parent_key = ?", parent));
}

std::vector<task::TaskKey> keys_of_schedule(Connection& connection, const TaskFilter& filter) {
  return task_keys_in(
      connection.query("SELECT task_key FROM scheduled_tasks WHERE schedule = ?1 AND (?2 = '' OR agent = ?2)",
                       filter.schedule, filter.agent));
}

std::vector<task::TaskKey> keys_of_context(Connection& connection, const task::ContextId& context,
                                           const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<task::TaskKey> keys;
  for (const auto& [agent, caller] : pairs) {
    const ContextRow found = find_context(connection, {agent}, {caller}, context);
    if (!found.key) continue;
    if (!found.has_rows) {
      keys.push_back(task_of_own_key(found.key));
      continue;
    }
    const auto resting = task_keys_in(connection.query(
        "SELECT task_key FROM tasks INDEXED BY tasks_in_context WHERE turn_state = 'none' AND hidden = 0 "
        "AND context_key = ? AND context_key <> 0",
        found.key));
    keys.insert(keys.end(), resting.begin(), resting.end());
    const auto busy = task_keys_in(connection.query(
        "SELECT task_key FROM tasks INDEXED BY tasks_unfinished WHERE turn_state <> 'none' AND agent = ? "
        "AND caller = ? AND context_key = ?",
        agent, caller, found.key));
    keys.insert(keys.end(), busy.begin(), busy.end());
  }
  return keys;
}

std::optional<std::vector<task::TaskKey>> keys_of_id(Connection& connection, const TaskFilter& filter,
                                                     int most) {
  // Sorts after every id that begins with `filter.id`: U+10FFFF is the last character of UTF-8.
  const std::string end = filter.id + "\xF4\x8F\xBF\xBF";
  // Runs a query for each agent and caller, because PostgreSQL would read the whole index for a join.
  std::vector<std::pair<std::string, std::string>> pairs;
  Query query = connection.query(
      "SELECT p.agent, p.caller FROM ("
      "SELECT DISTINCT agent, caller FROM task_totals WHERE (?1 = '' OR agent = ?1) AND " BATON_IS_OF("?2")
      " UNION SELECT DISTINCT agent, caller FROM tasks INDEXED BY tasks_unfinished "
      "WHERE turn_state <> 'none' AND (?1 = '' OR agent = ?1) AND " BATON_IS_OF("?2")
      ") p WHERE (SELECT t.public_id FROM tasks t INDEXED BY tasks_by_id WHERE t.agent = p.agent "
      "AND t.caller = p.caller AND t.public_id >= ?3 ORDER BY t.public_id LIMIT 1) <= ?4 LIMIT ?5",
      filter.agent, filter.caller, filter.id, end, most + 1);
  while (query.step()) pairs.emplace_back(query.text(0), query.text(1));
  std::vector<task::TaskKey> keys;
  for (const auto& [agent, caller] : pairs) {
    const auto more = task_keys_in(
        connection.query("SELECT task_key FROM tasks INDEXED BY tasks_by_id WHERE agent = ? AND caller = ? "
                         "AND public_id >= ? AND public_id <= ? LIMIT ?",
                         agent, caller, filter.id, end, most + 1));
    keys.insert(keys.end(), more.begin(), more.end());
    if (std::ssize(keys) > most) return std::nullopt;
  }
  return keys;
}

std::optional<std::vector<task::TaskKey>> keys_undelivered(Connection& connection, int most) {
  auto keys = task_keys_in(connection.query(
      "SELECT task_key FROM deliveries INDEXED BY deliveries_open WHERE state <> 'delivered' LIMIT ?",
      most + 1));
  if (std::ssize(keys) > most) return std::nullopt;
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace baton::store::sql
