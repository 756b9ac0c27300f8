#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "json/document.h"
#include "store/event_codec.h"
#include "store/own_context.h"
#include "store/sql/context_rows.h"
#include "store/sql/head_rows.h"
#include "store/sql/log_rows.h"
#include "store/sqlite/archive.h"
#include "store/sqlite/archive_tables.h"
#include "store/sqlite/dialect.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::store::sqlite {
namespace {

using namespace sql;
using base::ErrorCode;
using base::fail;
using base::Result;

tl::unexpected<base::Error> not_written_by_export(const std::string& what) {
  return fail(ErrorCode::invalid_argument, what);
}

// Binds the columns for `insert_statement`. A number is bound as a number, and a missing number that may be
// null as 0. All other values are texts; a missing one is empty.
void bind_columns(SQLite::Statement& statement, const copy::Table& table, int first, json::Value values) {
  for (const copy::Column& column : table.columns) {
    const json::Value value = values[column.name];
    if (const auto number = value.integer()) {
      statement.bind(first++, *number);
    } else if (value.absent() && column.may_be_null && !column.is_text) {
      statement.bind(first++, 0);
    } else {
      statement.bind(first++, value.str());
    }
  }
}

class Importer {
 public:
  explicit Importer(Connection& connection)
      : connection_(connection),
        dialect_(connection, {}, 1),
        task_(connection.database(),
              copy::insert_statement(tables_.tasks, "task_key, context_key, parent_key, indexed, ",
                                     "?, ?, ?, ?, ")),
        request_(connection.database(), copy::insert_statement(tables_.requests, "task_key, ", "?, ")),
        webhook_(connection.database(), copy::insert_statement(tables_.webhooks, "task_key, ", "?, ")) {
    dialect_.start();
    Query last = connection.query(
        "SELECT max((SELECT last_task FROM retention), coalesce(max(task_key), 0)) FROM tasks");
    if (last.step()) last_before_ = last_ = last.integer(0);
  }

  Result<void> add(json::Value line) {
    if (!line["task"].missing()) return add_task(line["task"]);
    if (const auto version = line["baton"].integer()) {
      if (*version == kArchiveVersion) return {};
      return fail(ErrorCode::unsupported, "the export has version " + std::to_string(*version));
    }
    for (const char* name : {"event", "request", "webhook"}) {
      const json::Value value = line[name];
      if (value.missing()) continue;
      if (value["task"].integer() != old_key_) return not_written_by_export("it must follow its task");
      if (name == std::string_view("event")) return add_event(value);
      const bool is_request = name == std::string_view("request");
      add_row(is_request ? request_ : webhook_, value, is_request ? tables_.requests : tables_.webhooks);
      return {};
    }
    return not_written_by_export("it has no known member of an export line");
  }

  // Call after the last line. Returns the number of imported tasks.
  Result<std::int64_t> end() {
    if (auto ended = end_task(); !ended) return fail(std::move(ended.error()));
    // Reserves the keys of all tasks that the logs name, even of those that were not exported.
    connection_.run("UPDATE retention SET last_task = max(last_task, ?)", last_);
    return tasks_;
  }

 private:
  // Returns the new key for an old one. All keys move by the same distance, so that a log can name children
  // that are not imported yet.
  task::TaskKey moved(std::int64_t old) {
    if (old < first_old_) return {};
    const std::int64_t key = last_before_ + 1 + old - first_old_;
    last_ = std::max(last_, key);
    return {key};
  }

  Result<void> add_task(json::Value value) {
    if (auto ended = end_task(); !ended) return ended;
    const auto old = value["key"].integer();
    if (!old || *old <= old_key_)
      return not_written_by_export("its key must be greater than the keys before it");
    if (!first_old_) first_old_ = *old;
    if (value["turn_state"].string() != "none" || !task::state_named(value["state"].string())) {
      return not_written_by_export("the task has a turn that has not ended");
    }
    old_key_ = *old;
    key_ = moved(*old);
    head_ = {};
    head_.key = key_;
    head_.id = {value["public_id"].str()};
    head_.agent = {value["agent"].str()};
    head_.caller = {value["caller"].str()};
    head_.state = *task::state_named(value["state"].string());
    head_.hidden = value["hidden"].integer() == 1;
    if (find_head(connection_, {head_.caller, head_.agent, head_.id})) {
      return fail(ErrorCode::already_exists,
                  "the task " + head_.id.value + " of agent " + head_.agent.value + " already exists");
    }
    head_.context =
        value["context"].missing() ? own_context(head_.id) : task::ContextId{value["context"].str()};
    if (auto entered = enter_its_context(); !entered) return entered;
    const std::int64_t parent = value["parent"].integer().value_or(0);
    insert_head(value, imported_.contains(parent) ? moved(parent) : task::TaskKey());
    imported_.insert(*old);
    bytes_ = 0;
    number_ = 0;
    ++tasks_;
    return {};
  }

  // Finds or creates the task's context, with rows. If another task was alone in it, writes the rows for that
  // task too.
  Result<void> enter_its_context() {
    const ContextRow found = find_context(connection_, head_.agent, head_.caller, head_.context);
    head_.context_key = found.key;
    if (!found.key) {
      head_.context_key = {dialect_.new_key(sql::KeyOf::context)};
      insert_context(connection_, head_);
      return {};
    }
    if (found.has_rows) return {};
    const auto alone = find_head(connection_, task_of_own_key(found.key));
    if (!alone) return fail(damaged("a context without its task"));
    const auto log = read_log(connection_, alone->head.key);
    if (!log) return fail(log.error());
    write_down_context(connection_, alone->head, *log, stamp_of(alone->head, alone->alone));
    return {};
  }

  void insert_head(json::Value value, task::TaskKey parent) {
    task_.reset();
    task_.bind(1, key_.value);
    task_.bind(2, head_.context_key.value);
    if (parent) task_.bind(3, parent.value);
    if (!parent) task_.bind(3);
    task_.bind(4, 1);
    bind_columns(task_, tables_.tasks, 5, value);
    task_.exec();
    if (!value["metadata"].missing()) {
      connection_.run("INSERT INTO task_metadata (task_key, metadata) VALUES (?, ?)", key_,
                      value["metadata"].str());
    }
    if (!value["schedule"].missing()) {
      connection_.run("INSERT INTO scheduled_tasks (task_key, agent, schedule) VALUES (?, ?, ?)", key_,
                      head_.agent, value["schedule"].str());
    }
    if (!value["title"].missing()) {
      // An existing context keeps its title.
      connection_.run("INSERT OR IGNORE INTO titles (agent, caller, context, title) VALUES (?, ?, ?, ?)",
                      head_.agent, head_.caller, head_.context, value["title"].str());
    }
    if (!head_.hidden) dialect_.add_to_total(head_.agent, head_.caller, head_.state, 1);
  }

  Result<void> add_event(json::Value value) {
    const int kind = static_cast<int>(value["kind"].integer().value_or(0));
    auto body = codec::decode(kind, value["body"].string());
    if (!body || value["number"].integer() != ++number_ || number_ >= task::kLogEnd.value) {
      return not_written_by_export("the event is invalid or not the next one");
    }
    std::string encoded = value["body"].str();
    if (auto* child = std::get_if<task::Subagent>(&*body); child != nullptr && child->task) {
      child->task = moved(child->task.value);
      encoded = codec::encode(*body);
    }
    bytes_ += static_cast<std::int64_t>(encoded.size());
    connection_.run("INSERT INTO events (event_key, kind, at_ms, body) VALUES (?, ?, ?, ?)",
                    event_key(key_, {number_}), kind, value["at_ms"].integer().value_or(0), encoded);
    return {};
  }

  void add_row(SQLite::Statement& statement, json::Value value, const copy::Table& table) {
    statement.reset();
    statement.bind(1, key_.value);
    bind_columns(statement, table, 2, value);
    statement.exec();
  }

  // Writes the rows that follow from the task's log.
  Result<void> end_task() {
    if (!key_) return {};
    const auto row = find_head(connection_, key_);
    if (!row) return fail(damaged("an imported task is missing"));
    if (row->head.last_event.value != number_)
      return not_written_by_export("events of the previous task are missing");
    const auto log = read_log(connection_, key_);
    if (!log) return fail(log.error());
    index_log(connection_, key_, *log);
    for (const task::EventPtr& event : *log) {
      insert_in_context(connection_, row->head, event->number, event->at, event->body);
    }
    connection_.run("UPDATE tasks SET bytes = ? WHERE task_key = ?", bytes_, key_);
    return {};
  }

  Connection& connection_;
  Dialect dialect_;
  const ArchiveTables tables_;
  SQLite::Statement task_, request_, webhook_;
  std::int64_t last_before_ = 0, last_ = 0;  // the largest key before the import, and until now
  std::int64_t first_old_ = 0, old_key_ = 0;
  std::set<std::int64_t> imported_;  // old keys
  task::TaskKey key_;
  task::TaskHead head_;
  std::int64_t bytes_ = 0, number_ = 0, tasks_ = 0;
};

Result<Archived> import_lines(Connection& connection,
                              const std::function<std::optional<std::string>()>& next) {
  Importer importer(connection);
  for (std::int64_t number = 1;; ++number) {
    const auto line = next();
    if (!line) break;
    if (line->empty()) continue;
    const auto document = json::Document::parse_view(*line);
    auto taken = document ? importer.add(document->root()) : Result<void>(fail(document.error()));
    if (taken) continue;
    taken.error().for_caller = "line " + std::to_string(number) + ": " + taken.error().for_caller;
    return fail(std::move(taken.error()));
  }
  const auto tasks = importer.end();
  if (!tasks) return fail(tasks.error());
  return Archived{*tasks, 0};
}

}  // namespace

Result<Archived> import_tasks(const std::string& database, const base::Clock& clock,
                              const std::function<std::optional<std::string>()>& next) {
  // Opening the store keeps every server out, and brings the schema up to date.
  SqliteOptions options;
  options.path = database;
  const auto store = SqliteStore::open(options, clock);
  if (!store) return fail(store.error());
  return catching("importing tasks", [&]() -> Result<Archived> {
    Connection connection(database, Connection::Mode::write);
    connection.begin();
    auto archived = import_lines(connection, next);
    archived ? connection.commit() : connection.rollback();
    return archived;
  });
}

}  // namespace baton::store::sqlite
