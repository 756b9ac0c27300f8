#include "cli/ops_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/printable.h"

namespace baton::cli {
namespace {

constexpr std::size_t kRowsTogether = 100;  // rows that share column widths
constexpr std::size_t kCellColumnsMax = 40, kColumnGap = 2;

}  // namespace

OpsTable::OpsTable(Console& console, std::vector<Column> columns)
    : console_(console), columns_(std::move(columns)) {}

void OpsTable::add(json::Value row) {
  ++count_;
  if (!console_.for_people()) return console_.json(row.raw());
  std::vector<std::string> cells;
  for (const Column& column : columns_) cells.push_back(printable_line(column.cell(row)));
  rows_.push_back(std::move(cells));
  if (rows_.size() == kRowsTogether) flush();
}

void OpsTable::flush() {
  if (rows_.empty()) return;
  if (!std::exchange(has_head_, true)) {
    std::vector<std::string> head;
    for (const Column& column : columns_) head.emplace_back(column.title);
    rows_.insert(rows_.begin(), std::move(head));
  }
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::min(kCellColumnsMax, std::max(widths[i], width_of(row[i])));
  }
  std::string text;
  for (const auto& row : rows_) text += line_of(row, widths);
  console_.text(text);
  rows_.clear();
}

std::string OpsTable::line_of(const std::vector<std::string>& row,
                              const std::vector<std::size_t>& widths) const {
  std::string line;
  std::size_t width = 0;
  for (std::size_t i = 0; i + 1 < row.size(); ++i) {
    const std::string cell = shortened(row[i], kCellColumnsMax);
    line += cell + std::string(widths[i] - std::min(widths[i], width_of(cell)) + kColumnGap, ' ');
    width += widths[i] + kColumnGap;
  }
  line += shortened(row.back(), console_.columns() - std::min(console_.columns(), width));
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::string age_text(json::Value time) {
  using namespace std::chrono;
  const auto at = base::parse_rfc3339(time.string());
  if (!at) return {};
  const auto age = std::max(duration_cast<seconds>(system_clock::now() - *at), seconds(0));
  if (age < minutes(1)) return std::to_string(age.count()) + "s";
  if (age < hours(1)) return std::to_string(duration_cast<minutes>(age).count()) + "m";
  if (age < days(1)) return std::to_string(duration_cast<hours>(age).count()) + "h";
  return std::to_string(duration_cast<days>(age).count()) + "d";
}

std::string text_in(json::Value row, std::string_view member) {
  const json::Value value = row[member];
  if (value.absent()) return {};
  return value.is_string() ? value.str() : std::string(value.raw());
}

}  // namespace baton::cli
