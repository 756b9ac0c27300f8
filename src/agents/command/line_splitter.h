// LineSplitter: splits a stream of bytes into lines, with a bound on their length.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace baton::agents {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_max) : line_max_(line_max) {}

  // Calls `on_line(std::string_view)` for each line that ends in `bytes`, without its line end; skips blank
  // lines. When `on_line` returns false, stops and keeps what is left for the next call. Returns false if a
  // line is too long.
  template <class F>
  bool feed(std::string_view bytes, F&& on_line) {
    std::string left = std::exchange(left_, {});
    if (!left.empty()) bytes = left += bytes;
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (begun_.size() + piece.size() > line_max_) return false;
      if (end == std::string_view::npos) {
        begun_ += piece;
        return true;
      }
      bytes.remove_prefix(end + 1);
      if (!deliver(piece, on_line)) {
        left_ = bytes;
        return true;
      }
    }
    return true;
  }

  // The stream has ended: delivers a last line that has no line end.
  template <class F>
  void finish(F&& on_line) {
    deliver({}, on_line);
  }

 private:
  template <class F>
  bool deliver(std::string_view piece, F&& on_line) {
    std::string whole;
    if (!begun_.empty()) {
      whole.swap(begun_);
      whole += piece;
      piece = whole;
    }
    if (piece.find_first_not_of(" \t\r") == std::string_view::npos) return true;
    return on_line(piece);
  }

  const std::size_t line_max_;
  std::string begun_;
  std::string left_;  // whole lines and the beginning of one
};

}  // namespace baton::agents
