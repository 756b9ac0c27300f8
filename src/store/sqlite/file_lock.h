// FileLock: keeps two Batons from serving one database by mistake.
#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::store::sqlite {

// Held as long as the object lives; the kernel lets go of it when the process dies.
class FileLock {
 public:
  // Locks "<path>.lock", where `path` is what links lead to, and the file at `path` itself, if it is there: a
  // hard link is another path to the same file. already_exists if somebody else holds either.
  static base::Result<FileLock> take(const std::string& path);

 private:
  FileLock(base::UniqueFd beside, base::UniqueFd file) : beside_(std::move(beside)), file_(std::move(file)) {}
  base::UniqueFd beside_;
  // Closed after SQLite's own descriptors: closing one lets go of all locks that SQLite has on the file.
  base::UniqueFd file_;
};

}  // namespace baton::store::sqlite
