// The embedded files that other programs read, as files on the disk: the libraries for agents (lib/), the
// shipped agents (agent-cards/) and the JSON Schemas (schema/). A file called "share/lib/x" in the program is
// lib/x there.
//
// They are unpacked to $XDG_CACHE_HOME/baton/<digest of their content>, which belongs to this user alone
// (0700). No other user of the machine can put code there: each folder above it belongs to root or to this
// user, no link is followed in it, and what is found there is compared with the program's files at each
// start.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace baton::base {

// Texts by path. The map is sorted, so that its digest does not depend on the order of adding.
using FileTexts = std::map<std::string, std::string_view, std::less<>>;

// The files above.
FileTexts files_to_unpack();

struct Unpacked {
  std::filesystem::path folder;
  std::string note;  // what a person should know about the folder; may be empty
};

// Unpacks the files to `cache`/<digest>. Creates `cache` if it does not exist. Writes nothing if they are
// there already. A folder that differs is replaced in one step, and kept as "<digest>.changed-XXXXXX".
// Python's __pycache__ does not count as a difference. Fails with unavailable, or with permission_denied if
// another user could change the files; `for_caller` names the path and the reason.
Result<Unpacked> unpack(const FileTexts& files, const std::filesystem::path& cache);

// Returns $XDG_CACHE_HOME/baton, or ~/.cache/baton; an empty path if neither variable is an absolute path. A
// home that does not exist does not count: Debian's services have /nonexistent.
std::filesystem::path cache_folder();

// The folder with this program's files. The first call unpacks them; without a safe cache folder, to a new
// private folder that is removed when the program ends. Threads: any.
const Result<Unpacked>& unpacked();

}  // namespace baton::base
