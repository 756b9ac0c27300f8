// Converts untrusted bytes to text: a stream of a program's output, or a piece of it for display.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace baton::agents {

// Makes a stream of bytes into UTF-8 text. Joins characters that are split between two pieces; bytes that are
// not UTF-8 become U+FFFD.
class Utf8Stream {
 public:
  std::string feed(std::string_view bytes);
  // The stream has ended: returns what was held back.
  std::string finish();

 private:
  std::string held_;  // an unfinished character, up to three bytes
};

// At most `size_max` bytes of `bytes`, on one line. UTF-8 stays; control characters and bytes that are not
// UTF-8 become \xNN; "..." marks what was cut off.
std::string escaped(std::string_view bytes, std::size_t size_max);

}  // namespace baton::agents
