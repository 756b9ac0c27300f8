#include "store/sql/task_pages.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "store/event_codec.h"
#include "store/sql/failure.h"
#include "store/sql/head_rows.h"
#include "store/sql/log_rows.h"
#include "store/sql/page_sources.h"
#include "store/task_filter.h"
#include "task/short_id.h"

namespace baton::store::sql {
namespace {

// If there are more rows of totals than this, the totals are not used to choose sources.
constexpr int kTotalsMax = 50'000;
// The cost of a further source, in rows that are checked.
constexpr std::int64_t kSourceCost = 20;
constexpr std::ptrdiff_t kSourcesMax = 2'000;
// If there are more, tasks with open deliveries are no longer rare, so the list is scanned for them.
constexpr int kOpenDeliveriesMax = 20'000;
// If there are more, the beginning of an id selects too little, so the list is scanned for it.
constexpr int kIdMatchesMax = 1'000;

// Longer statuses are listed without text, because decoding a page of them is too slow.
constexpr std::size_t kStatusBytesMax = 128 << 10;

using Pair = std::pair<std::string, std::string>;  // agent and caller

bool has_state(const TaskFilter& filter, task::State state) {
  return filter.states.empty() || std::ranges::find(filter.states, state) != filter.states.end();
}

// The numbers of tasks at rest that match the filter's state, agent and caller.
struct Totals {
  bool is_known = true;
  std::int64_t all = 0, in_states = 0, of_pairs = 0, passing = 0;
  std::set<Pair> pairs;  // the pairs that the filter selects
};

Totals totals_for(Connection& connection, const TaskFilter& filter) {
  Totals totals;
  int rows = 0;
  Query query = connection.query(
      "SELECT agent, caller, state, sum(tasks) FROM task_totals "
      "GROUP BY agent, caller, state LIMIT ?",
      kTotalsMax + 1);
  while (query.step()) {
    if (++rows > kTotalsMax) {
      totals.is_known = false;
      return totals;
    }
    const std::int64_t tasks = query.integer(3);
    if (tasks <= 0) continue;
    const auto state = task::state_named(query.text(2));
    const bool fits_state = state && has_state(filter, *state);
    Pair pair{query.text(0), query.text(1)};
    const bool fits_pair = (filter.agent.empty() || filter.agent.value == pair.first) &&
                           (filter.caller.empty() || is_of({pair.second}, filter.caller));
    totals.all += tasks;
    if (fits_state) totals.in_states += tasks;
    if (fits_pair) totals.of_pairs += tasks;
    if (fits_state && fits_pair) totals.passing += tasks;
    if (fits_pair) totals.pairs.insert(std::move(pair));
  }
  return totals;
}

std::set<Pair> pairs_with_turns(Connection& connection) {
  std::set<Pair> pairs;
  Query query = connection.query(
      "SELECT DISTINCT agent, caller FROM tasks INDEXED BY tasks_unfinished WHERE turn_state <> 'none'");
  while (query.step()) pairs.insert({query.text(0), query.text(1)});
  return pairs;
}

// The sources of one page, merged.
class Sources {
 public:
  Sources(Connection& connection, const TaskQuery& query, const Reading& reading)
      : connection_(connection), query_(query), reading_(reading) {
    choose();
  }

  // Returns the next candidate, or null at the end.
  const Candidate* peek() {
    const Candidate* first = nullptr;
    for (PageSource& source : sources_) {
      const Candidate* next = source.peek();
      if (next == nullptr) continue;
      if (first != nullptr && !comes_first(next->place, first->place, reading_.oldest_first)) continue;
      first = next;
      from_ = &source;
    }
    return first;
  }
  // Removes the candidate that peek() returned.
  void pop() { from_->pop(); }

  bool is_whole() const { return is_whole_; }

 private:
  void choose() {
    const TaskFilter& filter = query_.filter;
    if (!filter.id.empty() && add_by_id(filter)) return;
    if (filter.parent) return add(keys_of_parent(connection_, filter.parent));
    if (!filter.schedule.empty()) return add(keys_of_schedule(connection_, filter));
    if (!filter.context.empty()) return add(keys_of_context(connection_, filter.context, pairs()));
    if (filter.unfinished) return add_with_turn(filter);
    if (filter.undelivered) {
      if (const auto keys = keys_undelivered(connection_, kOpenDeliveriesMax)) return add(*keys);
    }
    if (may_have_turn(filter)) add_with_turn(filter);
    choose_at_rest(filter);
  }

  // No index has the ends of ids, so the list is scanned for a short form.
  bool add_by_id(const TaskFilter& filter) {
    if (task::is_short_id(filter.id) || !totals_for(connection_, filter).is_known) return false;
    const auto keys = keys_of_id(connection_, filter, kIdMatchesMax);
    if (keys) add(*keys);
    return keys.has_value();
  }

  void add_with_turn(const TaskFilter& filter) {
    if (!query_.keys_only) return add(keys_with_turn(connection_, filter));
    sources_.push_back(PageSource::with_turn(connection_, reading_, filter));
  }

  std::vector<Pair> pairs() const {
    const TaskFilter& filter = query_.filter;
    std::set<Pair> all = totals_for(connection_, filter).pairs;
    all.merge(pairs_with_turns(connection_));
    if (!filter.agent.empty() && !filter.caller.empty())
      all.insert({filter.agent.value, filter.caller.value});
    return {all.begin(), all.end()};
  }

  void choose_at_rest(const TaskFilter& filter) {
    const bool by_state = !filter.states.empty() && !has_state(filter, task::State::completed);
    const bool by_pair = !filter.agent.empty() || !filter.caller.empty();
    const Totals totals = by_state || by_pair ? totals_for(connection_, filter) : Totals();
    const bool few_pairs = totals.is_known && std::ssize(totals.pairs) <= kSourcesMax;
    if (totals.is_known && (by_state || by_pair) && totals.passing == 0) return;
    const std::int64_t pairs_cost = totals.of_pairs + kSourceCost * std::ssize(totals.pairs);
    const std::int64_t others_cost = by_state ? totals.in_states : totals.all;
    if (by_pair && few_pairs && pairs_cost < others_cost) {
      for (const auto& [agent, caller] : totals.pairs)
        sources_.push_back(PageSource::of_pair(connection_, reading_, agent, caller));
    } else if (by_state) {
      for (const task::State state : filter.states)
        sources_.push_back(PageSource::in_state(connection_, reading_, state));
    } else {
      sources_.push_back(PageSource::by_time(connection_, reading_));
    }
  }

  void add(const std::vector<task::TaskKey>& keys) {
    sources_.push_back(PageSource::of_keys(connection_, reading_, keys, is_whole_));
  }

  Connection& connection_;
  const TaskQuery& query_;
  const Reading reading_;
  std::vector<PageSource> sources_;
  PageSource* from_ = nullptr;
  bool is_whole_ = true;
};

int undelivered_of(Connection& connection, task::TaskKey key) {
  Query query = connection.query(
      "SELECT count(*) FROM push_configs c JOIN deliveries d ON d.config_key = c.config_key "
      "WHERE c.task_key = ? AND d.state <> 'delivered'",
      key);
  return query.step() ? query.small(0) : 0;
}

std::string text_of_status(Connection& connection, const task::TaskHead& head) {
  if (!head.status_event) return {};
  Query query = connection.query("SELECT kind, body FROM events WHERE event_key = ?",
                                 event_key(head.key, head.status_event));
  if (!query.step()) return {};
  const std::string body = query.text(1);
  if (body.size() > kStatusBytesMax) return {};
  const auto status = codec::decode(query.small(0), body);
  return status ? line_text(*status) : std::string();
}

std::string schedule_of(Connection& connection, task::TaskKey key) {
  Query query = connection.query("SELECT schedule FROM scheduled_tasks WHERE task_key = ?", key);
  return query.step() ? query.text(0) : std::string();
}

task::TaskKey retried_as(Connection& connection, task::TaskKey key) {
  Query query = connection.query(
      "SELECT detail FROM audit WHERE task_key = ? AND task_key <> 0 AND action = 'retry' AND outcome = "
      "'done' ORDER BY audit_key DESC LIMIT 1",
      key);
  return query.step() ? made_by_retry(query.text(0)) : task::TaskKey{};
}

// Whether may_pass() checks everything that the filter selects by.
bool needs_no_row(const TaskFilter& filter) {
  return !filter.unfinished && filter.turns.empty() && filter.context.empty() && !filter.parent &&
         !filter.roots && filter.schedule.empty() && filter.attempts_min <= 0 && !filter.undelivered &&
         !filter.retried && filter.error.empty() && !may_have_turn(filter);
}

// Checks the conditions that do not need the task's row.
bool may_pass(const TaskFilter& filter, const Candidate& candidate) {
  if (!has_state(filter, candidate.state)) return false;
  if (!filter.agent.empty() && filter.agent.value != candidate.agent) return false;
  if (!filter.caller.empty() && !is_of({candidate.caller}, filter.caller)) return false;
  return !filter.status_until || candidate.place.status_at <= *filter.status_until;
}

// Returns the task's line, if it passes. Reads each piece of data and checks its condition before reading the
// next one.
std::optional<TaskLine> line_if_passing(Connection& connection, const TaskQuery& asked,
                                        const TaskPlace& place) {
  const TaskFilter& filter = asked.filter;
  const task::TaskKey key = place.key;
  if (asked.keys_only && needs_no_row(filter)) {
    TaskLine line;
    line.head.key = key;
    line.head.status_at = place.status_at;
    return line;
  }
  auto row = find_head(connection, key);
  if (!row || !passes(filter, row->head)) return std::nullopt;
  TaskLine line{std::move(row->head), {}, {}, 0};
  const bool all = !asked.keys_only;
  if (all || !filter.schedule.empty()) line.schedule = schedule_of(connection, key);
  if (!filter.schedule.empty() && line.schedule != filter.schedule) return std::nullopt;
  if (all || filter.retried) line.retried_as = retried_as(connection, key);
  if (filter.retried && *filter.retried != static_cast<bool>(line.retried_as)) return std::nullopt;
  if (all || filter.undelivered) line.undelivered = undelivered_of(connection, key);
  if (filter.undelivered && line.undelivered == 0) return std::nullopt;
  if (all || !filter.error.empty()) line.text = text_of_status(connection, line.head);
  if (!has_words(line.text, filter.error)) return std::nullopt;
  return line;
}

// Whether neither this candidate nor any after it can pass.
bool is_past(const TaskQuery& query, const Candidate& candidate) {
  return query.oldest_first && query.filter.status_until &&
         candidate.place.status_at > *query.filter.status_until;
}

// Returns the place after which the list begins. A list with `status_until` skips the newer tasks.
std::optional<TaskPlace> beginning_of(const TaskQuery& query) {
  if (query.oldest_first || !query.filter.status_until) return query.after;
  const TaskPlace youngest{*query.filter.status_until + base::Duration(1), {0}};
  return query.after && comes_first(youngest, *query.after, false) ? query.after : youngest;
}

}  // namespace

TaskPage read_page(Connection& connection, const TaskQuery& query) {
  const auto now = base::SteadyTime::now();
  const Reading reading{query.oldest_first, beginning_of(query), now + query.time_max,
                        now + query.found_time_max};
  Sources sources(connection, query, reading);
  TaskPage page;
  std::optional<TaskPlace> seen;
  bool has_more = false;
  for (int looked_at = 1;; ++looked_at) {
    const Candidate* next = sources.peek();
    if (next == nullptr || is_past(query, *next)) break;
    const TaskPlace place = next->place;
    const bool passes_so_far = may_pass(query.filter, *next);
    sources.pop();
    auto line = passes_so_far ? line_if_passing(connection, query, place) : std::nullopt;
    // The sources may have read a task at different times, both at rest and with a turn. It is listed once.
    const bool is_twice = seen == place;
    if (line && !is_twice && std::ssize(page.lines) == query.limit) {
      has_more = true;
      break;
    }
    seen = place;
    const bool is_found = line.has_value();
    if (line && !is_twice) page.lines.push_back(std::move(*line));
    if (is_found ? reading.is_over_for_found()
                 : (passes_so_far || looked_at % 64 == 0) && reading.is_over()) {
      page.is_cut = sources.peek() != nullptr;
      break;
    }
  }
  if (page.is_cut) page.next = seen;
  if (has_more) page.next = place_of(page.lines.back().head);
  if (!sources.is_whole()) page.is_cut = true;
  return page;
}

TaskCount count_tasks(Connection& connection, const TaskFilter& filter) {
  if (!is_counted(filter)) return {};
  TaskCount count{0, true};
  Query query = connection.query(
      "SELECT state, sum(tasks) FROM task_totals WHERE (?1 = '' OR agent = ?1) "
      "AND " BATON_IS_OF("?2") " GROUP BY state",
      filter.agent, filter.caller);
  while (query.step() && !filter.unfinished) {
    const auto state = task::state_named(query.text(0));
    if (state && has_state(filter, *state)) count.tasks += query.integer(1);
  }
  if (!may_have_turn(filter)) return count;
  Query busy = connection.query(
      "SELECT state, count(*) FROM tasks INDEXED BY tasks_unfinished WHERE turn_state <> 'none' "
      "AND (?1 = '' OR agent = ?1) AND " BATON_IS_OF("?2") " GROUP BY state",
      filter.agent, filter.caller);
  while (busy.step()) {
    const auto state = task::state_named(busy.text(0));
    if (state && has_state(filter, *state)) count.tasks += busy.integer(1);
  }
  return count;
}

std::vector<OperatorStore::AgentCounts> counts_by_agent(Connection& connection) {
  std::map<std::string, OperatorStore::AgentCounts> agents;
  Query query = connection.query("SELECT agent, state, sum(tasks) FROM task_totals GROUP BY agent, state");
  while (query.step()) {
    const auto state = task::state_named(query.text(1));
    if (state && query.integer(2) > 0) agents[query.text(0)].at_rest.emplace_back(*state, query.integer(2));
  }
  Query busy = connection.query(
      "SELECT agent, turn_state, count(*) FROM tasks INDEXED BY tasks_unfinished WHERE turn_state <> 'none' "
      "GROUP BY agent, turn_state");
  while (busy.step()) {
    OperatorStore::AgentCounts& counts = agents[busy.text(0)];
    const std::string state = busy.text(1);
    (state == "queued"    ? counts.queued
     : state == "running" ? counts.running
                          : counts.waiting) = busy.integer(2);
  }
  std::vector<OperatorStore::AgentCounts> all;
  for (auto& [name, counts] : agents) {
    counts.agent = {name};
    all.push_back(std::move(counts));
  }
  return all;
}

base::Result<TaskLine> read_line(Connection& connection, task::TaskKey key) {
  auto row = find_head(connection, key);
  if (!row) return base::fail(base::ErrorCode::task_not_found, "task not found");
  TaskLine line{std::move(row->head), schedule_of(connection, key), {}, 0};
  line.retried_as = retried_as(connection, key);
  line.undelivered = undelivered_of(connection, key);
  line.text = text_of_status(connection, line.head);
  return line;
}

}  // namespace baton::store::sql
