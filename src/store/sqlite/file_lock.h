// FileLock: keeps two Batons from serving one database by mistake.
#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::store::sqlite {

// Held as long as the object lives; the kernel lets go of it when the process dies.
class FileLock {
 public:
  // Locks "<path>.lock", where `path` is what links lead to if the file is there. already_exists if somebody
  // else holds it.
  static base::Result<FileLock> take(const std::string& path);

 private:
  explicit FileLock(base::UniqueFd file) : file_(std::move(file)) {}
  base::UniqueFd file_;
};

}  // namespace baton::store::sqlite
