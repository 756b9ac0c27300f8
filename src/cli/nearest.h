// Which known name somebody meant who wrote an unknown one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace baton::cli {

// How many letters must be added, left out, changed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `names`, or empty if none is near enough to be meant.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace baton::cli
