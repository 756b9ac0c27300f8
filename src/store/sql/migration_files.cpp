#include "store/sql/migration_files.h"

#include <algorithm>
#include <charconv>

namespace baton::store::sql {

int migration_number(const base::EmbeddedFile& file, std::string_view folder) {
  int number = 0;
  if (!file.name.starts_with(folder) || !file.name.ends_with(".sql")) return 0;
  const std::string_view digits = file.name.substr(folder.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

int newest_migration(const std::vector<base::EmbeddedFile>& files, std::string_view folder) {
  int newest = 0;
  for (const base::EmbeddedFile& file : files) newest = std::max(newest, migration_number(file, folder));
  return newest;
}

}  // namespace baton::store::sql
