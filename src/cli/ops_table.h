// OpsTable: prints rows of JSON as a table for people, or unchanged as JSON lines for programs.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/console.h"
#include "json/document.h"

namespace baton::cli {

class OpsTable {
 public:
  struct Column {
    std::string_view title;
    std::string (*cell)(json::Value row);  // any text; it is made printable
  };

  OpsTable(Console& console, std::vector<Column> columns);

  void add(json::Value row);
  // Writes the rows that were added. The last column gets the rest of the terminal's line.
  void flush();
  std::size_t count() const { return count_; }

 private:
  std::string line_of(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const;

  Console& console_;
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  bool has_head_ = false;
  std::size_t count_ = 0;
};

// Returns the age of a time from the API: "5s", "3m", "2h", "9d". Empty if `time` is not a time.
std::string age_text(json::Value time);
// Returns a member of any simple type as text.
std::string text_in(json::Value row, std::string_view member);

}  // namespace baton::cli
