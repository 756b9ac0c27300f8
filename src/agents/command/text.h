// Bytes of unknown origin made into text: for streams of a program's output, and for showing a piece of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace baton::agents {

// Makes a stream of bytes into UTF-8 text. Characters that are split between two pieces are kept together;
// bytes that are not UTF-8 become U+FFFD.
class Utf8Stream {
 public:
  std::string take(std::string_view bytes);
  // What was held back, at the end of the stream.
  std::string finish();

 private:
  std::string held_;  // the begin of a character, up to three bytes
};

// At most `size_max` bytes of `bytes` on one line: UTF-8 stays, control characters and broken bytes become
// \xNN, and "..." says that something was cut off.
std::string escaped(std::string_view bytes, std::size_t size_max);

}  // namespace baton::agents
