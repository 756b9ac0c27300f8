// PageSource: tasks in the order of an operator's list, from one index or one set of keys. Throws
// sql::Failure.
//
// Threads: as for Connection. Sources share its statements and read in pieces, so that many can be merged.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/threads.h"
#include "store/operator_store.h"
#include "store/sql/connection.h"

// The SQL form of store::is_of, for a column `caller` and a parameter. An empty parameter matches every
// caller.
#define BATON_IS_OF(named) \
  "(" named " = '' OR caller = " named " OR substr(caller, instr(caller, '\x1f') + 1) = " named ")"

namespace baton::store::sql {

// The fields of a task that the indexes contain, so that its row need not be read.
struct Candidate {
  TaskPlace place;
  task::State state = task::State::submitted;
  std::string agent, caller;
};

// How a query reads its sources.
struct Reading {
  bool oldest_first = false;
  std::optional<TaskPlace> after;
  base::SteadyTime::time_point until{}, found_until{};  // by TaskQuery's time_max and found_time_max

  bool is_over() const { return base::SteadyTime::now() >= until; }
  bool is_over_for_found() const { return base::SteadyTime::now() >= found_until; }
};

class PageSource {
 public:
  // Tasks at rest: in any state; in one state other than completed; of one caller with one agent.
  static PageSource by_time(Connection& connection, const Reading& reading);
  static PageSource in_state(Connection& connection, const Reading& reading, task::State state);
  static PageSource of_pair(Connection& connection, const Reading& reading, std::string agent,
                            std::string caller);
  // These tasks, whether at rest or not. `is_whole` becomes false if the time was over before all were read.
  static PageSource of_keys(Connection& connection, const Reading& reading,
                            const std::vector<task::TaskKey>& keys, bool& is_whole);

  // All tasks with a turn, of the filter's agent and caller if they are not empty. Uses one statement,
  // regardless of its duration.
  static PageSource with_turn(Connection& connection, const Reading& reading, const TaskFilter& filter);

  // The next task, or null at the end.
  const Candidate* peek();
  void pop() { piece_.pop_front(); }

 private:
  using Refill = std::function<std::vector<Candidate>(const std::optional<TaskPlace>& after)>;
  explicit PageSource(Refill refill) : refill_(std::move(refill)) {}

  Refill refill_;
  std::optional<TaskPlace> last_;  // of the piece read last
  bool is_over_ = false;
  std::deque<Candidate> piece_;
};

// The keys of all tasks with a turn, of the filter's agent and caller if they are not empty.
std::vector<task::TaskKey> keys_with_turn(Connection& connection, const TaskFilter& filter);
std::vector<task::TaskKey> keys_of_parent(Connection& connection, task::TaskKey parent);
std::vector<task::TaskKey> keys_of_schedule(Connection& connection, const TaskFilter& filter);
// The keys of tasks whose ids begin with the filter's `id`, of its agent and caller; nullopt if there are
// more than `most`. Costs a look-up for each pair of agent and caller that has tasks.
std::optional<std::vector<task::TaskKey>> keys_of_id(Connection& connection, const TaskFilter& filter,
                                                     int most);
// `pairs`: the agents and callers that have tasks.
std::vector<task::TaskKey> keys_of_context(Connection& connection, const task::ContextId& context,
                                           const std::vector<std::pair<std::string, std::string>>& pairs);
// The keys of tasks with deliveries that are pending or were given up; nullopt if there are more than `most`
// such deliveries.
std::optional<std::vector<task::TaskKey>> keys_undelivered(Connection& connection, int most);

}  // namespace baton::store::sql
