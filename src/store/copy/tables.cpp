#include "store/copy/tables.h"

#include <algorithm>

namespace baton::store::copy {
namespace {

struct Line {
  const char* name;
  std::size_t key_columns;
  int rows_at_start;
  const char* columns;  // $: a text; ?: may be null
};

// `tasks` comes late, so that a program which reads an unfinished copy despite the mark finds no tasks.
// `sends` is ordered by time, as in SQLite.
constexpr Line kLines[] = {
    {"contexts", 1, 1, "context_key agent$ caller$ public_id$"},
    {"events", 1, 0, "event_key kind at_ms body$"},
    {"landmarks", 1, 0, "event_key"},
    {"artifacts", 2, 0, "task_key public_id$ ordinal withdrawn"},
    {"conversation", 4, 0, "context_key at_ms task_key number"},
    {"titles", 3, 0, "agent$ caller$ context$ title$"},
    {"calls", 2, 0, "context_key call_id$"},
    {"turn_requests", 2, 0,
     "task_key number metadata$ tools$ client_state$ extensions$ history$ hops$ trace$"},
    {"task_metadata", 1, 0, "task_key metadata$"},
    {"sends", 3, 0, "at_ms digest_high digest_low task_key before"},
    {"push_configs", 1, 0,
     "config_key task_key public_id$ url$ token$ schemes$ credentials$ authentication_extra$ version"},
    {"deliveries", 1, 0,
     "delivery_key config_key task_key event_number state$ due_ms? created_ms attempts error$"},
    {"scheduled_tasks", 1, 0, "task_key agent$ schedule$"},
    {"audit", 1, 0,
     "audit_key at_ms actor$ action$ reason$ detail$ task_key agent$ caller$ public_id$ outcome$"},
    {"agent_controls", 1, 0, "agent$ paused actor$ reason$ at_ms workers concurrency"},
    {"bulk_jobs", 1, 0, "job_key at_ms actor$ action$ reason$ filter$ tasks state$ done refused counted"},
    {"bulk_items", 2, 0, "job_key task_key outcome$ detail$"},
    {"api_keys", 1, 0,
     "key_id$ digest$ caller$ role$ scopes$ agents$ binds_children created_by$ created_ms lifetime_ms "
     "expires_ms revoked_ms used_ms changed"},
    {"removed_logs", 1, 0, "task_key erased"},
    {"crashed_turns", 1, 0, "task_key turn deaths alone last_event seen quarantined_ms"},
    {"tasks", 1, 0,
     "task_key agent$ caller$ public_id$ context_key parent_key? origin created_ms version state$ "
     "status_event last_event turn turn_state$ attempt turn_message turn_begin awaited waiting_messages "
     "cancel_requested ask$ artifact_count message_count status_ms indexed bytes hidden waits_open_max "
     "waits_on_failure waits_until_ms? child_failed detached tokens children budget$? trace$"},
    {"task_totals", 3, 0, "agent$ caller$ state$ tasks"},
    {"retention", 1, 1, "last_task kept_before"},
    {"server", 1, 1, "name$ stopped"},
};

Column column_of(std::string_view word) {
  Column column;
  if (word.ends_with('?')) {
    column.may_be_null = true;
    word.remove_suffix(1);
  }
  if (word.ends_with('$')) {
    column.is_text = true;
    word.remove_suffix(1);
  }
  column.name = word;
  return column;
}

Table table_of(const Line& line) {
  Table table{line.name, {}, line.key_columns, line.rows_at_start};
  for (std::string_view rest = line.columns; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    table.columns.push_back(column_of(word));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return table;
}

}  // namespace

std::string Table::columns_listed(std::size_t most, std::string_view prefix) const {
  std::string listed;
  for (std::size_t i = 0; i < std::min(most, columns.size()); ++i) {
    listed += (i == 0 ? "" : ", ") + std::string(prefix) + columns[i].name;
  }
  return listed;
}

std::span<const Table> tables() {
  static const std::vector<Table> all = [] {
    std::vector<Table> made;
    for (const Line& line : kLines) made.push_back(table_of(line));
    return made;
  }();
  return all;
}

Table table_without(std::string_view name, std::initializer_list<std::string_view> columns) {
  Table table = *std::ranges::find(tables(), name, &Table::name);
  std::erase_if(table.columns, [&](const Column& column) {
    return std::ranges::find(columns, column.name) != columns.end();
  });
  return table;
}

std::string insert_statement(const Table& table, std::string_view columns, std::string_view values,
                             std::string_view words) {
  std::string places;
  for (const Column& column : table.columns) {
    if (!places.empty()) places += ", ";
    places += !column.may_be_null ? "?" : column.is_text ? "nullif(?, '')" : "nullif(?, 0)";
  }
  return "INSERT INTO " + table.name + " (" + std::string(columns) + table.columns_listed() + ") " +
         std::string(words) + "VALUES (" + std::string(values) + places + ")";
}

}  // namespace baton::store::copy
