// The files of schema/ inside the program: numbered SQL migrations and the JSON Schemas of what users write.
#pragma once

#include <string_view>
#include <vector>

namespace baton::base {

struct EmbeddedFile {
  std::string_view name;  // relative to schema/, "sqlite/0001_initial.sql"
  std::string_view text;
};

// All of them, by name.
const std::vector<EmbeddedFile>& embedded_files();

// The text of one, or an empty view.
std::string_view embedded_file(std::string_view name);

}  // namespace baton::base
