// Row: a row of a table on its way from one database to another, and what is counted of a table's rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/copy/tables.h"
#include "store/sql/connection.h"

namespace baton::store::copy {

// A count and a digest: the sum of the rows' own, which is the same in whatever order they come.
struct Tally {
  std::int64_t rows = 0;
  std::uint64_t high = 0, low = 0;

  bool operator==(const Tally&) const = default;
};

class Row {
 public:
  explicit Row(const Table& table) : table_(table), values_(table.columns.size()) {}

  // `query` has the table's columns, in their order.
  void read(const sql::Query& query);

  // For `insert_statement`, as long as the row stays as it is.
  std::span<const sql::Parameter> parameters();
  std::size_t bytes() const;  // of its texts
  void add_to(Tally& tally) const;

  // Its key as a text, and back as parameters, which are good as long as the text is.
  std::string key() const;
  static std::vector<sql::Parameter> key_parameters(const Table& table, const std::string& key);

 private:
  struct Value {
    bool is_null = false;
    std::int64_t number = 0;
    std::string text;
  };

  const Table& table_;
  std::vector<Value> values_;
  std::vector<sql::Parameter> parameters_;
};

}  // namespace baton::store::copy
