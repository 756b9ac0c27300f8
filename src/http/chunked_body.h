// ChunkedBody: incremental decoder for a chunked request body, with size limits (RFC 9112, 7.1). Chunk
// extensions and trailer fields are parsed and dropped.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton::http {

class ChunkedBody {
 public:
  enum class State : std::uint8_t { reading, done, malformed, too_large };

  // Decodes `bytes` and appends to `body`, which never grows past `body_max`. Returns the number of bytes
  // used: fewer than given only if the state is no longer `reading`.
  std::size_t feed(std::string_view bytes, std::string& body, std::size_t body_max);
  State state() const { return state_; }

 private:
  enum class Part : std::uint8_t {
    size_first,
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_first,
    trailer,
    trailer_lf,
    last_lf
  };
  void read_char(char c, std::size_t body_taken, std::size_t body_max);
  void take_size(char c, std::size_t body_taken, std::size_t body_max);
  void take_trailer(char c);
  void expect(char c, char wanted, Part next);

  std::size_t left_ = 0;      // of the chunk
  std::size_t overhead_ = 0;  // extension bytes of this chunk, or trailer bytes
  Part part_ = Part::size_first;
  State state_ = State::reading;
};

}  // namespace baton::http
