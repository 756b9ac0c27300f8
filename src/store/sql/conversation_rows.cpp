#include "store/sql/conversation_rows.h"

#include <optional>
#include <utility>

#include "store/sql/context_rows.h"
#include "store/sql/head_rows.h"
#include "store/sql/log_rows.h"
#include "task/fold.h"

namespace baton::store::sql {
namespace {

using base::fail;
using base::Result;

// The number of events to search for the beginning of a conversation. A caller's message is among the first
// events of a context, because each task begins with one.
constexpr int kPlacesMax = 8;

struct Place {
  task::TaskKey task;
  LogQuery::Range range;
};

std::vector<Place> places_in(Connection& connection, const ContextRow& context) {
  if (!context.has_rows) return {{task_of_own_key(context.key), {}}};
  std::vector<Place> places;
  Query query = connection.query(
      "SELECT task_key, number FROM conversation WHERE context_key = ? ORDER BY at_ms, task_key, number "
      "LIMIT ?",
      context.key, kPlacesMax);
  while (query.step()) {
    const task::EventNumber number{query.integer(1)};
    places.push_back({{query.integer(0)}, {number, number}});
  }
  return places;
}

// Reads the first of the caller's messages in this part of a log, if there is one.
Result<void> read_message(Connection& connection, const Place& place, Opening& opening) {
  LogQuery log = LogQuery::landmarks(connection, place.task, place.range);
  while (!opening.message) {
    auto event = log.next_own();
    if (!event) return fail(event.error());
    if (!*event) break;
    const task::Message* message = task::message_in((*event)->body);
    if (message == nullptr || message->role != task::Role::user) continue;
    opening.at = (*event)->at;
    opening.message = *message;
  }
  return {};
}

}  // namespace

Result<Opening> read_opening(Connection& connection, const task::ContextRef& context) {
  Opening opening;
  const ContextRow found = find_context(connection, context.agent, context.caller, context.id);
  if (!found.key) return opening;
  Query title = connection.query("SELECT title FROM titles WHERE agent = ? AND caller = ? AND context = ?",
                                 context.agent, context.caller, context.id);
  if (title.step()) opening.title = title.text(0);
  for (const Place& place : places_in(connection, found)) {
    if (auto read = read_message(connection, place, opening); !read) return fail(read.error());
    if (opening.message) break;
  }
  return opening;
}

std::vector<task::TaskHead> heads_in(Connection& connection, const task::ContextRef& context) {
  std::vector<task::TaskKey> keys;
  const ContextRow found = find_context(connection, context.agent, context.caller, context.id);
  if (found.key && !found.has_rows) keys.push_back(task_of_own_key(found.key));
  if (found.has_rows) {
    // The tasks are found by their messages, because hidden tasks are in no index of contexts and every task
    // has a message.
    Query query =
        connection.query("SELECT DISTINCT task_key FROM conversation WHERE context_key = ?", found.key);
    while (query.step()) keys.push_back({query.integer(0)});
  }
  std::vector<task::TaskHead> heads;
  for (const task::TaskKey key : keys) {
    if (auto row = find_head(connection, key)) heads.push_back(std::move(row->head));
  }
  return heads;
}

Result<void> write_title(WriteState& state, const task::ContextRef& context, const std::string& title) {
  Connection& connection = state.connection();
  const ContextRow found = find_context(connection, context.agent, context.caller, context.id);
  if (!found.key) return fail(base::ErrorCode::not_found, "conversation not found");
  if (found.has_rows) state.keep_context(found.key);
  if (title.empty()) {
    connection.run("DELETE FROM titles WHERE agent = ? AND caller = ? AND context = ?", context.agent,
                   context.caller, context.id);
  } else {
    connection.run(
        "INSERT INTO titles (agent, caller, context, title) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (agent, caller, context) DO UPDATE SET title = excluded.title",
        context.agent, context.caller, context.id, title);
  }
  return {};
}

void delete_title(Connection& connection, const task::TaskHead& head) {
  connection.run("DELETE FROM titles WHERE agent = ? AND caller = ? AND context = ?", head.agent, head.caller,
                 head.context);
}

}  // namespace baton::store::sql
