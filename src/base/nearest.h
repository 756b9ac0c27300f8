// Finds the known name that is meant by a misspelt one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace baton::base {

// The number of letters to add, leave out, change or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `names`, or empty if none is near enough.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace baton::base
