// The tables that a copy of a database consists of, with their columns: the same in SQLite and PostgreSQL.
//
// Tables and columns that belong to one database are left out: its migrations, PostgreSQL's nodes, lanes and
// owners of turns, SQLite's slices of sends.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::store::copy {

struct Column {
  std::string name;
  bool is_text = false;
  bool may_be_null = false;  // if true, 0 and the empty text are always stored as null
};

struct Table {
  std::string name;
  std::vector<Column> columns;  // those of the key first
  std::size_t key_columns = 1;
  int rows_at_start = 0;  // rows that migrations insert

  // "task_key, agent, caller", of the first `most`, with `prefix` before each name.
  std::string columns_listed(std::size_t most = SIZE_MAX, std::string_view prefix = "") const;
};

// In the order in which they are copied.
std::span<const Table> tables();

// Returns the table of this name without some of its columns.
Table table_without(std::string_view name, std::initializer_list<std::string_view> columns);

// Returns "INSERT INTO audit (audit_key, ...) VALUES (?, ...)". `columns` and `values`, such as "lane, " and
// "0, ", are put first; `words` are put before VALUES.
std::string insert_statement(const Table& table, std::string_view columns = "", std::string_view values = "",
                             std::string_view words = "");

}  // namespace baton::store::copy
