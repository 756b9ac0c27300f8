// file_stamp: tells versions of a file or folder apart without reading it.
#pragma once

#include <string>

namespace baton::base {

// Returns the path, and the facts that differ between two versions of its file; symbolic links are followed.
// A missing file has only the path.
std::string file_stamp(const std::string& path);

}  // namespace baton::base
