// FileLock: prevents two Batons from serving the same database by mistake.
#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::store::sqlite {

// Held while the object exists; the kernel releases it when the process ends.
class FileLock {
 public:
  // Locks "<path>.lock", with links in `path` resolved, and the file itself if it exists, because a hard link
  // is another path to the same file. already_exists if another process holds either lock.
  static base::Result<FileLock> acquire(const std::string& path);

 private:
  FileLock(base::UniqueFd beside, base::UniqueFd file) : beside_(std::move(beside)), file_(std::move(file)) {}
  base::UniqueFd beside_;
  // Close after SQLite's own descriptors: closing any descriptor releases all of SQLite's locks on the file.
  base::UniqueFd file_;
};

}  // namespace baton::store::sqlite
