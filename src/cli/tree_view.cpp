#include "cli/tree_view.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/printable.h"
#include "cli/terminal_view.h"
#include "task/short_id.h"
#include "task/state.h"

namespace baton::cli {
namespace {

enum Column : std::size_t { kName, kState, kBegun, kTook, kTry, kTokens, kTask, kColumns };
using Cells = std::array<std::string, kColumns>;

constexpr std::array<std::string_view, kColumns> kHead{"TASK", "STATE",  "START UTC", "TOOK",
                                                       "TRY",  "TOKENS", "ID"};
constexpr std::size_t kGap = 2, kNameMin = 20;
constexpr int kDepthMax = 100;
constexpr std::string_view kResetStyle = "\x1b[0m";

std::string took(std::chrono::milliseconds time) {
  using namespace std::chrono;
  const auto padded = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  const std::int64_t ms = std::max<std::int64_t>(time.count(), 0), s = ms / 1000;
  if (s < 60) return std::to_string(s) + "." + std::to_string(ms % 1000 / 100) + "s";
  if (s < 3'600) return std::to_string(s / 60) + "m" + padded(s % 60) + "s";
  if (s < 86'400) return std::to_string(s / 3'600) + "h" + padded(s / 60 % 60) + "m";
  return std::to_string(s / 86'400) + "d" + padded(s / 3'600 % 24) + "h";
}

class TreeTable {
 public:
  TreeTable(json::Value tree, const TreeRoom& room)
      : room_(room), now_(base::parse_rfc3339(tree["at"].string())) {
    for (std::size_t i = 0; i < kColumns; ++i) head_[i] = kHead.at(i);
    add(tree["root"], "", "", 0);
  }

  std::string draw() {
    drop_columns();
    measure();
    std::string text = line_of(head_, {});
    const std::size_t head = 1, all = rows_.size();
    std::size_t shown = all;
    if (room_.rows > 0 && all + head > room_.rows) shown = room_.rows > head + 1 ? room_.rows - head - 1 : 0;
    for (std::size_t i = 0; i < shown; ++i) text += line_of(rows_[i].cells, rows_[i].state);
    if (shown < all)
      text += shortened("... and " + std::to_string(all - shown) + " more", room_.columns) + "\n";
    return text;
  }

 private:
  struct Row {
    Cells cells;
    std::optional<task::State> state;
  };

  // `lead` is the prefix of this line, `below` the prefix of its children's lines.
  void add(json::Value node, const std::string& lead, const std::string& below, int depth) {
    Row& row = rows_.emplace_back();
    const std::string label = printable_line(node["label"].string());
    const std::string agent = printable_line(node["agent"].string());
    std::string name = label.empty() ? agent : label;
    if (!label.empty() && !agent.empty() && agent != label) name += " (" + agent + ")";
    row.cells[kName] = lead + (name.empty() ? "-" : name);
    row.cells[kState] = printable_line(node["state"].string());
    row.state = task::state_named(node["state"].string());
    const auto begun = base::parse_rfc3339(node["begunAt"].string());
    const auto ended = base::parse_rfc3339(node["endedAt"].string());
    if (begun) row.cells[kBegun] = base::to_rfc3339(*begun).substr(11, 8);
    const auto until = ended ? ended : now_;
    if (begun && until) row.cells[kTook] = took(*until - *begun);
    if (node["attempt"].integer().value_or(0) > 1)
      row.cells[kTry] = std::to_string(*node["attempt"].integer());
    if (const auto tokens = node["tokens"].integer()) row.cells[kTokens] = std::to_string(*tokens);
    row.cells[kTask] = printable_line(task::short_id(node["id"].string()));
    if (depth >= kDepthMax) return;
    std::size_t left = node["children"].size();
    const bool is_cut = node["childrenLeftOut"].boolean();
    for (const json::Value child : node["children"]) {
      const bool is_last = --left == 0 && !is_cut;
      add(child, below + (is_last ? "└─ " : "├─ "), below + (is_last ? "   " : "│  "), depth + 1);
    }
    if (is_cut) rows_.push_back({{below + "└─ ... more, left out"}, std::nullopt});
  }

  bool has(Column column) const {
    return std::ranges::any_of(rows_, [&](const Row& row) { return !row.cells[column].empty(); });
  }

  // Drops columns without content, and on a narrow terminal further ones until the rest fits.
  void drop_columns() {
    for (std::size_t i = 0; i < kColumns; ++i) shown_[i] = i <= kState || has(static_cast<Column>(i));
    for (const Column column : {kBegun, kTask, kTokens, kTry, kTook}) {
      measure();
      if (width_ <= room_.columns) return;
      shown_[column] = false;
    }
  }

  void measure() {
    widths_ = {};
    width_ = 0;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (!shown_[i]) continue;
      widths_[i] = width_of(head_[i]);
      for (const Row& row : rows_) widths_[i] = std::max(widths_[i], width_of(row.cells[i]));
      if (i != kName) width_ += widths_[i] + kGap;
    }
    const std::size_t room = room_.columns - std::min(room_.columns, width_);
    widths_[kName] = std::min(widths_[kName], std::max(room, kNameMin));
    width_ += std::min(widths_[kName], kNameMin);
  }

  std::string line_of(const Cells& cells, std::optional<task::State> state) const {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (!shown_[i]) continue;
      const std::string cell = shortened(cells[i], widths_[i]);
      const std::string space(widths_[i] - std::min(widths_[i], width_of(cell)), ' ');
      const bool is_number = i == kTook || i == kTry || i == kTokens;
      const bool in_colour = i == kState && room_.colour && state;
      if (i > 0) line += std::string(kGap, ' ');
      if (is_number) line += space;
      line += in_colour ? std::string(style_of(*state)) + cell + std::string(kResetStyle) : cell;
      if (!is_number) line += space;
    }
    while (line.ends_with(' ')) line.pop_back();
    return line + "\n";
  }

  const TreeRoom room_;
  const std::optional<base::Timestamp> now_;
  Cells head_;
  std::vector<Row> rows_;
  std::array<bool, kColumns> shown_{};
  std::array<std::size_t, kColumns> widths_{};
  std::size_t width_ = 0;  // of all columns, with the minimum for the first one
};

}  // namespace

std::string show_tree(json::Value tree, const TreeRoom& room) {
  return TreeTable(tree, room).draw();
}

}  // namespace baton::cli
