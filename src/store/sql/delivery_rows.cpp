#include "store/sql/delivery_rows.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/threads.h"
#include "store/task_filter.h"

namespace baton::store::sql {
namespace {

using base::ErrorCode;
using base::fail;
using Kind = task::DeliveryOrder::Kind;

constexpr std::chrono::milliseconds kTimeMax{50};

// The columns that line_of() reads.
#define BATON_DELIVERIES                                                                                \
  "SELECT d.delivery_key, d.task_key, t.agent, t.caller, t.public_id, d.event_number, c.url, d.state, " \
  "d.attempts, d.created_ms, d.due_ms, d.error FROM deliveries d "                                      \
  "JOIN push_configs c ON c.config_key = d.config_key JOIN tasks t ON t.task_key = d.task_key "

DeliveryLine line_of(const Query& query) {
  DeliveryLine line;
  line.key = {query.integer(0)};
  line.task = {query.integer(1)};
  line.agent = {query.text(2)};
  line.caller = {query.text(3)};
  line.task_id = {query.text(4)};
  line.event = {query.integer(5)};
  line.url = query.text(6);
  line.state = query.text(7);
  line.attempts = query.small(8);
  line.created = base::from_ms(query.integer(9));
  if (!query.is_null(10)) line.due = base::from_ms(query.integer(10));
  line.error = query.text(11);
  return line;
}

struct Target {
  std::int64_t delivery, config;
};

// Returns the deliveries that the order applies to.
std::vector<Target> targets_of(Connection& connection, task::TaskKey task, const task::DeliveryOrder& order) {
#define BATON_TARGETS                                                                                       \
  "SELECT d.delivery_key, d.config_key FROM push_configs c "                                                \
  "JOIN deliveries d ON d.config_key = c.config_key WHERE c.task_key = ?1 AND (?2 = 0 OR d.delivery_key = " \
  "?2) "
  Query query =
      order.kind == Kind::skip
          ? connection.query(BATON_TARGETS "AND d.state = 'waiting'", task, order.delivery)
          : connection.query(BATON_TARGETS
                             "AND (d.state = 'given-up' OR (d.state = 'waiting' AND d.due_ms IS NOT NULL))",
                             task, order.delivery);
#undef BATON_TARGETS
  std::vector<Target> targets;
  while (query.step()) targets.push_back({query.integer(0), query.integer(1)});
  return targets;
}

// Makes the config's first pending delivery the one that is due. It is due at this node, unless it was
// already due.
void put_in_order(WriteState& state, std::int64_t config) {
  Connection& connection = state.connection();
  std::int64_t first = 0;
  {
    Query query = connection.query(
        "SELECT delivery_key FROM deliveries WHERE config_key = ? AND state = 'waiting' "
        "ORDER BY event_number LIMIT 1",
        config);
    if (query.step()) first = query.integer(0);
  }
  connection.run(
      "UPDATE deliveries SET due_ms = NULL WHERE config_key = ?1 AND due_ms IS NOT NULL AND delivery_key <> "
      "?2",
      config, first);
  connection.run("UPDATE deliveries SET due_ms = ?2, sender = ?3 WHERE delivery_key = ?1 AND due_ms IS NULL",
                 first, base::to_ms(state.now()), state.node());
}

bool fits_filter(const DeliveryFilter& filter, const DeliveryLine& line) {
  return (filter.agent.empty() || filter.agent == line.agent) &&
         (filter.caller.empty() || is_of(line.caller, filter.caller));
}

// Reads the deliveries that pass, until there are `limit` lines or the time is over.
DeliveryPage read_some(Query query, const DeliveryFilter& filter, int limit) {
  const auto until = base::SteadyTime::now() + kTimeMax;
  DeliveryPage page;
  std::int64_t seen = 0;
  for (int looked_at = 1; query.step(); ++looked_at) {
    const bool is_full = std::ssize(page.lines) == limit;
    if (is_full || (looked_at % 64 == 0 && base::SteadyTime::now() >= until)) {
      page.next = seen;
      break;
    }
    DeliveryLine line = line_of(query);
    seen = line.key.value;
    if (fits_filter(filter, line)) page.lines.push_back(std::move(line));
  }
  return page;
}

// Merges two pages, and drops the lines beyond the end of the shorter one.
DeliveryPage merged_pages(DeliveryPage a, DeliveryPage b, int limit) {
  const std::int64_t end = std::max(a.next, b.next);
  DeliveryPage page;
  std::ranges::merge(a.lines, b.lines, std::back_inserter(page.lines), std::greater(), &DeliveryLine::key,
                     &DeliveryLine::key);
  std::erase_if(page.lines, [end](const DeliveryLine& line) { return line.key.value < end; });
  page.next = end;
  if (std::ssize(page.lines) > limit) {
    page.lines.resize(static_cast<std::size_t>(limit));
    page.next = page.lines.empty() ? 0 : page.lines.back().key.value;
  }
  return page;
}

}  // namespace

base::Result<void> check_order(Connection& connection, task::TaskKey task, const task::DeliveryOrder& order) {
  if (!targets_of(connection, task, order).empty()) return {};
  return fail(ErrorCode::not_found,
              order.kind == Kind::skip ? "the delivery is not waiting" : "there is no delivery to resend");
}

void follow_order(WriteState& state, task::TaskKey task, const task::DeliveryOrder& order) {
  Connection& connection = state.connection();
  state.change_deliveries();
  std::set<std::int64_t> configs;
  for (const Target& target : targets_of(connection, task, order)) {
    configs.insert(target.config);
    if (order.kind == Kind::skip) {
      connection.run(
          "UPDATE deliveries SET state = 'given-up', due_ms = NULL, error = 'skipped by an operator' "
          "WHERE delivery_key = ?",
          target.delivery);
    } else {
      connection.run(
          "UPDATE deliveries SET state = 'waiting', due_ms = ?2, created_ms = ?2, attempts = 0, sender = ?3 "
          "WHERE delivery_key = ?1",
          target.delivery, base::to_ms(state.now()), state.node());
    }
  }
  for (const std::int64_t config : configs) put_in_order(state, config);
}

DeliveryPage read_deliveries(Connection& connection, const DeliveryFilter& filter, std::int64_t before,
                             int limit) {
  using State = DeliveryFilter::State;
  const std::int64_t below = before > 0 ? before : std::numeric_limits<std::int64_t>::max();
  if (filter.task) {
    const std::string state = filter.state == State::waiting    ? "waiting"
                              : filter.state == State::given_up ? "given-up"
                                                                : "";
    return read_some(
        connection.query(BATON_DELIVERIES
                         "WHERE c.task_key = ?1 AND d.delivery_key < ?2 AND (?3 = '' OR d.state = ?3) "
                         "ORDER BY d.delivery_key DESC LIMIT ?4",
                         filter.task, below, state, limit + 1),
        filter, limit);
  }
  const auto in_state = [&](const char* state) {
    return read_some(connection.scan(BATON_DELIVERIES
                                     "WHERE d.state = ?1 AND d.state <> 'delivered' AND d.delivery_key < ?2 "
                                     "ORDER BY d.delivery_key DESC",
                                     std::string(state), below),
                     filter, limit);
  };
  if (filter.state == State::waiting) return in_state("waiting");
  if (filter.state == State::given_up) return in_state("given-up");
  DeliveryPage waiting = in_state("waiting");
  return merged_pages(std::move(waiting), in_state("given-up"), limit);
}

base::Result<DeliveryLine> read_delivery(Connection& connection, DeliveryKey key) {
  Query query = connection.query(BATON_DELIVERIES "WHERE d.delivery_key = ?", key);
  if (!query.step()) return fail(ErrorCode::not_found, "delivery not found");
  return line_of(query);
}

}  // namespace baton::store::sql
