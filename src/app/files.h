// Reads the files that settings and commands name.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace baton::app {

// Returns the content of a file of at most `size_max` bytes. Fails with not_found or too_large.
base::Result<std::string> read_file(const std::string& name, std::size_t size_max);
// Like `read_file`, but removes a byte order mark.
base::Result<std::string> read_text_file(const std::string& name, std::size_t size_max);

// Returns the database that a file names, such as a URL with a password (database_url.h). Fails with
// not_found or too_large, or with invalid_argument if the file names none. Errors do not quote the content.
base::Result<std::string> database_in_file(const std::string& name);

// Returns true if every user of the machine can read the file and it is not on a read-only mount.
bool is_exposed(const std::string& file);

}  // namespace baton::app
