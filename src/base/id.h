// Strong identifiers: ids of different kinds, such as TaskId and ContextId, are different types.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace baton::base {

// A textual id. Empty means "none".
template <class Tag>
struct Id {
  std::string value;

  bool empty() const { return value.empty(); }
  friend auto operator<=>(const Id&, const Id&) = default;
};

// A numeric key or counter. Zero means "none".
template <class Tag>
struct Number {
  std::int64_t value = 0;

  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const Number&, const Number&) = default;
};

// A new UUIDv7 (RFC 9562): ordered by time, so that index inserts stay local. Threads: any.
std::string make_uuid();

// `bytes` random bytes from the operating system's generator, as lower-case hex. Threads: any.
std::string random_hex(int bytes);

// A number from the operating system's generator, for use as a seed. Threads: any.
std::uint64_t random_number();

}  // namespace baton::base

template <class Tag>
struct std::hash<baton::base::Id<Tag>> {
  std::size_t operator()(const baton::base::Id<Tag>& id) const { return std::hash<std::string>{}(id.value); }
};
template <class Tag>
struct std::hash<baton::base::Number<Tag>> {
  std::size_t operator()(const baton::base::Number<Tag>& n) const {
    return std::hash<std::int64_t>{}(n.value);
  }
};
