// Row: a row of a table that is copied from one database to another. Tally: the count and digest of a table's
// rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/copy/tables.h"
#include "store/sql/connection.h"

namespace baton::store::copy {

// A count and a digest. The digest is the sum of the rows' digests, so it does not depend on their order.
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

  // The values for `insert_statement`; valid until the row changes.
  std::span<const sql::Parameter> parameters();
  std::size_t bytes() const;  // of its texts
  void add_to(Tally& tally) const;

  // Convert the row's key to a text, and a text back to parameters, which are valid as long as the text.
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
