#include <sqlite3.h>

#include "json/writer.h"
#include "store/own_context.h"
#include "store/sqlite/archive.h"
#include "store/sqlite/archive_tables.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/errors.h"

namespace baton::store::sqlite {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr char kChosen[] =
    "WITH RECURSIVE chosen (task_key) AS (SELECT task_key FROM tasks t JOIN contexts c ON c.context_key = "
    "t.context_key WHERE (?1 = '' OR t.public_id = ?1) AND (?2 = '' OR t.agent = ?2) AND "
    // Matches the caller in every tenant: see task::account_of.
    "(?3 = '' OR substr(t.caller, instr(t.caller, char(31)) + 1) = ?3) AND "
    "(?4 = '' OR c.public_id = ?4 OR (t.context_key = 0 AND ?5 = t.public_id)) UNION "
    "SELECT t.task_key FROM tasks t JOIN chosen ON t.parent_key = chosen.task_key) "
    "SELECT t.task_key, t.turn_state = 'none' FROM chosen JOIN tasks t USING (task_key) ORDER BY t.task_key";

void write_value(json::Writer& out, const SQLite::Column& value) {
  if (value.isInteger()) {
    out.integer(value.getInt64());
  } else {
    out.string(std::string_view(value.getText(), static_cast<std::size_t>(value.getBytes())));
  }
}

// Writes the columns that are neither null nor empty. The import reads missing members as null or empty.
void write_columns(json::Writer& out, SQLite::Statement& row, const copy::Table& table, int first) {
  for (const copy::Column& column : table.columns) {
    const SQLite::Column value = row.getColumn(first++);
    if (value.isNull() || (value.isText() && value.getBytes() == 0)) continue;
    out.key(column.name);
    write_value(out, value);
  }
}

class Exporter {
 public:
  using Write = std::function<bool(const std::string&)>;
  Exporter(SQLite::Database& database, const Write& write)
      : task_(database,
              "SELECT t.task_key, t.parent_key, c.public_id, m.metadata, t.context_key, t.public_id, "
              "s.schedule, " +
                  tables_.tasks.columns_listed(SIZE_MAX, "t.") +
                  " FROM tasks t JOIN contexts c ON c.context_key = t.context_key LEFT JOIN "
                  "task_metadata m ON m.task_key = t.task_key LEFT JOIN scheduled_tasks s ON s.task_key = "
                  "t.task_key WHERE t.task_key = ?"),
        title_(database,
               "SELECT n.title FROM tasks t JOIN titles n ON n.agent = t.agent AND n.caller = t.caller "
               "WHERE t.task_key = ? AND n.context = ?"),
        events_(database,
                "SELECT event_key & 268435455, kind, at_ms, body FROM events WHERE event_key BETWEEN "
                "?1 << 28 AND (?1 << 28) + 268435455 ORDER BY event_key"),
        requests_(database, "SELECT " + tables_.requests.columns_listed() +
                                " FROM turn_requests WHERE task_key = ? ORDER BY number"),
        webhooks_(database, "SELECT " + tables_.webhooks.columns_listed() +
                                " FROM push_configs WHERE task_key = ? ORDER BY config_key"),
        write_(write) {}

  bool begin() {
    return line([](json::Writer& out) { out.member("baton", kArchiveVersion); });
  }

  bool add(std::int64_t key) {
    return add_head(key) && add_events(key) && add_rows(requests_, "request", tables_.requests, key) &&
           add_rows(webhooks_, "webhook", tables_.webhooks, key);
  }

 private:
  template <class F>
  bool line(F&& member) {
    text_.clear();
    json::Writer out(text_);
    out.object([&] { member(out); });
    return write_(text_);
  }

  bool add_head(std::int64_t key) {
    restart(task_, key);
    if (!task_.executeStep()) return true;
    // The own context of a task that is alone in it follows from the task's id.
    const bool is_own = task_.getColumn(4).getInt64() == 0;
    const std::string context =
        is_own ? own_context({task_.getColumn(5).getString()}).value : task_.getColumn(2).getString();
    restart(title_, key);
    title_.bind(2, context);
    const bool has_title = title_.executeStep();
    return line([&](json::Writer& out) {
      out.key("task").object([&] {
        out.member("key", key);
        if (!task_.isColumnNull(1)) out.member("parent", task_.getColumn(1).getInt64());
        if (!is_own) out.member("context", context);
        if (!task_.isColumnNull(3)) out.key("metadata").string(task_.getColumn(3).getString());
        if (!task_.isColumnNull(6)) out.key("schedule").string(task_.getColumn(6).getString());
        if (has_title) out.key("title").string(title_.getColumn(0).getString());
        write_columns(out, task_, tables_.tasks, 7);
      });
    });
  }

  bool add_events(std::int64_t key) {
    restart(events_, key);
    while (events_.executeStep()) {
      const bool written = line([&](json::Writer& out) {
        out.key("event").object([&] {
          out.member("task", key).member("number", events_.getColumn(0).getInt64());
          out.member("kind", events_.getColumn(1).getInt()).member("at_ms", events_.getColumn(2).getInt64());
          out.key("body");
          write_value(out, events_.getColumn(3));
        });
      });
      if (!written) return false;
    }
    return true;
  }

  bool add_rows(SQLite::Statement& rows, const char* name, const copy::Table& table, std::int64_t key) {
    restart(rows, key);
    while (rows.executeStep()) {
      const bool written = line([&](json::Writer& out) {
        out.key(name).object([&] {
          out.member("task", key);
          write_columns(out, rows, table, 0);
        });
      });
      if (!written) return false;
    }
    return true;
  }

  static void restart(SQLite::Statement& statement, std::int64_t key) {
    statement.reset();
    statement.bind(1, key);
  }

  const ArchiveTables tables_;
  SQLite::Statement task_, title_, events_, requests_, webhooks_;
  const Write& write_;
  std::string text_;
};

}  // namespace

Result<Archived> export_tasks(const std::string& database, const ArchiveFilter& filter,
                              const std::function<bool(const std::string&)>& write) {
  const auto opened = open_newest(database);
  if (!opened) return fail(opened.error());
  Connection& connection = **opened;
  return catching("exporting tasks", [&]() -> Result<Archived> {
    const Snapshot snapshot(connection);
    Exporter exporter(connection.database(), write);
    const auto own = task_of_own_context({filter.context});
    Query chosen = connection.query(kChosen, filter.task, filter.agent, filter.caller, filter.context,
                                    own ? own->value : std::string("\n"));
    Archived archived;
    bool written = exporter.begin();
    while (written && chosen.step()) {
      const bool at_rest = chosen.truth(1);
      ++(at_rest ? archived.tasks : archived.unfinished);
      written = !at_rest || exporter.add(chosen.integer(0));
    }
    if (!written) return fail(ErrorCode::unavailable, "cannot write the export");
    return archived;
  });
}

}  // namespace baton::store::sqlite
