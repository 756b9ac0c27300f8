#include "http/chunked_body.h"

#include <algorithm>

#include "http/http_text.h"

namespace baton::http {
namespace {

// Real clients send no chunk extensions or long trailers; anything longer is treated as an attack.
constexpr std::size_t kExtensionMax = 256;
constexpr std::size_t kTrailerMax = 8192;

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

}  // namespace

std::size_t ChunkedBody::feed(std::string_view bytes, std::string& body, std::size_t body_max) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::reading) {
    if (part_ == Part::data) {
      const std::size_t count = std::min(left_, bytes.size() - used);
      body.append(bytes.substr(used, count));
      used += count;
      left_ -= count;
      if (left_ == 0) part_ = Part::data_cr;
      continue;
    }
    read_char(bytes[used++], body.size(), body_max);
  }
  return used;
}

void ChunkedBody::expect(char c, char wanted, Part next) {
  if (c == wanted) {
    part_ = next;
  } else {
    state_ = State::malformed;
  }
}

void ChunkedBody::read_char(char c, std::size_t body_taken, std::size_t body_max) {
  switch (part_) {
    case Part::size_first:
    case Part::size:
      return take_size(c, body_taken, body_max);
    case Part::extension:
      if (c == '\r') {
        part_ = Part::size_lf;
      } else if (is_control(c) || ++overhead_ > kExtensionMax) {
        state_ = State::malformed;
      }
      return;
    case Part::size_lf:
      overhead_ = 0;
      return expect(c, '\n', left_ == 0 ? Part::trailer_first : Part::data);
    case Part::data:
      return;  // `feed` handles data in blocks
    case Part::data_cr:
      return expect(c, '\r', Part::data_lf);
    case Part::data_lf:
      return expect(c, '\n', Part::size_first);
    case Part::trailer_first:
    case Part::trailer:
      return take_trailer(c);
    case Part::trailer_lf:
      return expect(c, '\n', Part::trailer_first);
    case Part::last_lf:
      state_ = c == '\n' ? State::done : State::malformed;
      return;
  }
}

void ChunkedBody::take_size(char c, std::size_t body_taken, std::size_t body_max) {
  const int digit = hex_value(c);
  if (digit >= 0) {
    // Leading zeros count as overhead, because their number would otherwise be unlimited.
    if (left_ == 0 && ++overhead_ > kExtensionMax) state_ = State::malformed;
    left_ = left_ * 16 + static_cast<std::size_t>(digit);
    part_ = Part::size;
    if (left_ > body_max - body_taken) state_ = State::too_large;
    return;
  }
  if (part_ == Part::size_first) {
    state_ = State::malformed;
  } else if (c == '\r') {
    part_ = Part::size_lf;
  } else if (c == ';' || c == ' ' || c == '\t') {
    part_ = Part::extension;
  } else {
    state_ = State::malformed;
  }
}

void ChunkedBody::take_trailer(char c) {
  if (c == '\r') {
    part_ = part_ == Part::trailer_first ? Part::last_lf : Part::trailer_lf;
  } else if (is_control(c) || ++overhead_ > kTrailerMax) {
    state_ = State::malformed;
  } else {
    part_ = Part::trailer;
  }
}

}  // namespace baton::http
