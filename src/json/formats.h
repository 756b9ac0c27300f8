// The formats of JSON Schema that are asserted. All others are annotations.
//
// Pure. The cost is linear in the text's length.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton::json {

enum class Format : std::uint8_t {
  none,
  date,
  time,
  date_time,
  duration,
  email,
  uri,
  uuid,
  hostname,
  ipv4,
  ipv6
};

// none: the format is an annotation.
Format format_named(std::string_view name);

// Dates and times are those of RFC 3339, but a time may lack its seconds and its offset: browsers' fields for
// times make such. An email address is checked for its outline only; a URI must have a scheme.
bool has_format(Format format, std::string_view text);

// What a text of this format is called: "a date like 2026-01-31".
std::string_view words_for(Format format);
// A text of this format; empty for none.
std::string_view example_of(Format format);

}  // namespace baton::json
