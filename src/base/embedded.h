// Embedded files: files compiled into the program. They are those of schema/, such as SQL migrations and JSON
// Schemas, the pages of src/server/console/, the templates that `baton init` writes, and the files that are
// unpacked (base/unpacked.h).
#pragma once

#include <string_view>
#include <vector>

namespace baton::base {

struct EmbeddedFile {
  std::string_view name;  // relative to schema/, "sqlite/0001_initial.sql"; "console/index.html",
                          // "templates/bash/ask.sh", "share/lib/python/baton/__init__.py"
  std::string_view text;
};

// All files, sorted by name.
const std::vector<EmbeddedFile>& embedded_files();

// The text of the file with this name, or an empty view.
std::string_view embedded_file(std::string_view name);

}  // namespace baton::base
