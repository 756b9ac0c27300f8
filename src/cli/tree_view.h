// TreeView: shows a person the tree of a task, a line for each task: what it is, its state, when it began,
// how long it took or has taken so far, its attempt, its tokens, its short id.
//
// Pure. Text from the server is made harmless (printable.h).
#pragma once

#include <cstddef>
#include <string>

#include "json/document.h"

namespace baton::cli {

struct TreeRoom {
  std::size_t columns = 80;
  std::size_t rows = 0;  // at most so many lines; 0: all of them
  bool colour = false;
};

// `tree` as the server answers (schema/README.md, "The tree of a task"). Each line ends with a line end.
std::string show_tree(json::Value tree, const TreeRoom& room);

}  // namespace baton::cli
