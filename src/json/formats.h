// The formats of JSON Schema that are checked. All others are only annotations.
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

// Returns none if the format is only an annotation.
Format format_named(std::string_view name);

// Whether the text has the format. Dates and times follow RFC 3339, but a time may lack its seconds and its
// offset, because browsers' time inputs produce such times. Only the outline of an email address is checked.
// A URI must have a scheme.
bool has_format(Format format, std::string_view text);

// Describes a text of this format: "a date like 2026-01-31".
std::string_view words_for(Format format);
// Returns a text of this format; empty for Format::none.
std::string_view example_of(Format format);

}  // namespace baton::json
