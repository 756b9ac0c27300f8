// TreeView: formats the tree of a task for people, with a line for each task: its label and agent, its state,
// its start time, its duration up to now, its attempt, its tokens, its short id.
//
// Pure. Text from the server is made harmless (printable.h).
#pragma once

#include <cstddef>
#include <string>

#include "json/document.h"

namespace baton::cli {

struct TreeRoom {
  std::size_t columns = 80;
  std::size_t rows = 0;  // the maximum number of lines; 0: no limit
  bool colour = false;
};

// `tree` is the server's answer (schema/TASKS.md, "The tree of a task"). Each line ends with a line end.
std::string show_tree(json::Value tree, const TreeRoom& room);

}  // namespace baton::cli
