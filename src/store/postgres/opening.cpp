#include "store/postgres/opening.h"

#include <chrono>
#include <thread>
#include <utility>

#include "store/copy/unfinished.h"
#include "store/postgres/server_checks.h"
#include "store/postgres/writer.h"

namespace baton::store::postgres {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// A server notices the end of a program that was killed after a moment.
constexpr std::chrono::milliseconds kLockPatience(2'000), kLockPause(20);

Result<void> take_lock(Link& link) {
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  while (!lock_schema(link)) {
    if (std::chrono::steady_clock::now() >= until) return fail(ErrorCode::already_exists, kIsOpen);
    std::this_thread::sleep_for(kLockPause);
  }
  return {};
}

}  // namespace

base::Error error_at_open(const sql::Failure& failure) {
  base::Error error = sql::error_of(failure, "opening");
  const auto* of_link = dynamic_cast<const LinkFailure*>(&failure);
  if (of_link != nullptr && of_link->state() == "42501") {
    error.code = ErrorCode::invalid_argument;
    error.for_caller =
        "the database's role may not make tables: GRANT USAGE, CREATE ON SCHEMA public TO it, or make it "
        "the owner of a schema and of what is in it";
  }
  return error;
}

Result<void> lock_checked(Link& link, const std::vector<std::string>& allows, const Address& address) {
  if (auto checked = check_server(link, allows); !checked) return checked;
  Link other(address);
  if (auto checked = check_sessions(link, other); !checked) return checked;
  return take_lock(link);
}

std::int64_t register_node(Link& link, base::Timestamp now, std::chrono::milliseconds lease) {
  const std::int64_t node = std::stoll(link.ask_text("SELECT nextval('node_ids')"));
  link.ask("BEGIN");
  link.ask("DELETE FROM lanes");
  link.ask("DELETE FROM nodes");
  link.ask(
      "CREATE TEMPORARY TABLE counted ON COMMIT DROP AS "
      "SELECT agent, caller, state, sum(tasks)::bigint AS tasks FROM task_totals "
      "GROUP BY agent, caller, state HAVING sum(tasks) <> 0");
  link.ask("DELETE FROM task_totals");
  link.ask(
      "INSERT INTO task_totals (node_id, lane, agent, caller, state, tasks) "
      "SELECT 0, 0, agent, caller, state, tasks FROM counted");
  link.ask("INSERT INTO nodes (node_id, started_ms, lease_until) VALUES (" + std::to_string(node) + ", " +
           std::to_string(base::to_ms(now)) + ", clock_timestamp() + interval '" +
           std::to_string(lease.count()) + " milliseconds')");
  link.ask("INSERT INTO lanes (node_id, lane, last_group) VALUES (" + std::to_string(node) + ", 1, 0)");
  link.ask("UPDATE tasks SET owner = " + std::to_string(node) + " WHERE turn_state <> 'none'");
  link.ask("COMMIT");
  return node;
}

bool has_table(Link& link, const char* name) {
  return link.ask_text(
             "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname "
             "= '" +
             std::string(name) + "'") != "0";
}

base::Error unfinished_error(Link& link) {
  return copy::unfinished_error(link.ask_text("SELECT source FROM unfinished_copy"));
}

}  // namespace baton::store::postgres
