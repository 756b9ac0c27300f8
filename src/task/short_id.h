// Short task ids for people. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace baton::task {

// The short form of a UUID is its last group, which is random in Baton's UUIDs. The first group is a time:
// tasks of the same minute share its eight digits.
inline constexpr std::size_t kShortIdLength = 12;

inline bool is_short_id(std::string_view text) {
  return text.size() == kShortIdLength &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Returns the short form of a UUID; returns any other id unchanged.
inline std::string_view short_id(std::string_view id) {
  constexpr std::size_t kUuidLength = 36;
  if (id.size() != kUuidLength) return id;
  const bool has_groups = id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-';
  const std::string_view last = id.substr(kUuidLength - kShortIdLength);
  return has_groups && is_short_id(last) ? last : id;
}

// Returns true if the id begins with `part`, or `part` is its short form.
inline bool is_named_by(std::string_view id, std::string_view part) {
  return id.starts_with(part) || (is_short_id(part) && short_id(id) == part);
}

// Shorter parts name no task, because too many tasks share them; a complete id may be shorter.
inline constexpr std::size_t kIdPartMin = 6;

}  // namespace baton::task
