// The version of Baton; a test compares it with project() in CMakeLists.txt.
#pragma once

#include <string>
#include <string_view>

namespace baton::app {

inline constexpr std::string_view kVersion = "0.1.0";

// Returns the version, commit, libraries and compiler of this build, one on each line.
std::string version_text();

}  // namespace baton::app
