// Files that settings and commands name.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace baton::app {

// The text of a file of at most `size_max` bytes. Fails with not_found or too_large.
base::Result<std::string> read_file(const std::string& name, std::size_t size_max);
// The same for text, without a byte order mark.
base::Result<std::string> read_text_file(const std::string& name, std::size_t size_max);

// The database that a file says, such as a URL with a password (database_url.h). Fails with not_found,
// too_large or, if it says none, invalid_argument; nothing of it is in the message.
base::Result<std::string> database_in_file(const std::string& name);

// Whether every user of the machine can read the file.
bool is_exposed(const std::string& file);

}  // namespace baton::app
