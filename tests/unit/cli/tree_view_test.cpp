#include "cli/tree_view.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/printable.h"

namespace baton::cli::tree_view_test {
namespace {

constexpr const char* kTree = R"({"at": "2026-01-31T10:01:10.000Z", "tasks": 5, "root": {
  "id": "018f2d3e-0000-7000-8000-0123456789ab", "agent": "report", "kind": "plan", "state": "working", "attempt": 1,
  "begunAt": "2026-01-31T10:00:00.000Z", "children": [
    {"id": "018f2d3e-0000-7000-8000-0123456789ac", "agent": "table", "label": "tables[0]/table", "state": "completed",
     "attempt": 2, "begunAt": "2026-01-31T10:00:01.000Z", "endedAt": "2026-01-31T10:00:02.500Z", "tokens": 42},
    {"id": "x", "agent": "chief", "label": "chief", "state": "working", "begunAt": "2026-01-31T10:00:05.000Z",
     "childrenLeftOut": true, "children": [{"id": "y", "agent": "hand", "label": "hand", "state": "failed"}]},
    {"kind": "question", "label": "approve", "state": "input-required"}]}})";

std::vector<std::string> lines_of(const char* tree, const TreeRoom& room) {
  const auto document = json::Document::view_of(tree);
  std::istringstream text(show_tree(document.root(), room));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("Tree view: each task has a line with its place, state, times, attempt, tokens and short id") {
  CHECK(lines_of(kTree, {120}) ==
        std::vector<std::string>{
            "TASK                        STATE           START UTC   TOOK  TRY  TOKENS  ID",
            "report                      working         10:00:00   1m10s               0123456789ab",
            "├─ tables[0]/table (table)  completed       10:00:01    1.5s    2      42  0123456789ac",
            "├─ chief                    working         10:00:05   1m05s               x",
            "│  ├─ hand                  failed                                         y",
            "│  └─ ... more, left out",
            "└─ approve                  input-required",
        });
}

TEST_CASE("Tree view: a narrow terminal leaves out columns, and no line is longer than it") {
  for (const std::size_t columns : {40, 60, 80}) {
    const auto lines = lines_of(kTree, {columns});
    CHECK(lines[1].find("working") != std::string::npos);
    for (const std::string& line : lines) CHECK(width_of(line) <= columns);
  }
}

TEST_CASE("Tree view: a tree higher than the terminal is cut, with a note") {
  const auto lines = lines_of(kTree, {120, 4});
  REQUIRE(lines.size() == 4);
  CHECK(lines[3] == "... and 4 more");
}

TEST_CASE("Tree view: states are coloured on request, and hostile text is escaped") {
  const char* tree = R"({"root": {"agent": "a\u001b[2J\nb", "state": "failed", "id": "\u202e"}})";
  const auto lines = lines_of(tree, {120, 0, true});
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].find("\x1b[31mfailed\x1b[0m") != std::string::npos);
  CHECK(lines[1].find("a^[[2J b") != std::string::npos);
  CHECK(lines[1].find("\xE2\x80\xAE") == std::string::npos);
}

}  // namespace
}  // namespace baton::cli::tree_view_test
