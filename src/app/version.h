// The version of Baton, as project() in CMakeLists.txt has it (a test compares them).
#pragma once

#include <string>
#include <string_view>

namespace baton::app {

inline constexpr std::string_view kVersion = "0.1.0";

// The version, and the commit, libraries and compiler of this build, a line each.
std::string version_text();

}  // namespace baton::app
