// The tables that a copy of a database consists of, with their columns: the same in SQLite and PostgreSQL.
//
// Left out is what a database has of its own: its migrations, PostgreSQL's nodes and lanes and whose
// turns are whose, SQLite's slices of sends.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::store::copy {

struct Column {
  std::string name;
  bool is_text = false;
  bool may_be_null = false;  // then nothing else stands for 0, or for an empty text
};

struct Table {
  std::string name;
  std::vector<Column> columns;  // those of the key first
  std::size_t key_columns = 1;
  int rows_at_start = 0;  // that migrations have made

  // "task_key, agent, caller", of the first `most`.
  std::string columns_listed(std::size_t most = SIZE_MAX) const;
};

// In the order in which they are copied.
std::span<const Table> tables();

// "INSERT INTO audit (audit_key, ...) VALUES (?, ...)". `columns` and `values` come first, such as "lane, "
// and "0, "; `words` stand before VALUES.
std::string insert_statement(const Table& table, std::string_view columns = "", std::string_view values = "",
                             std::string_view words = "");

}  // namespace baton::store::copy
