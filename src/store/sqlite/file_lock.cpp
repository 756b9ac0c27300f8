#include "store/sqlite/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace baton::store::sqlite {

base::Result<FileLock> FileLock::take(const std::string& path) {
  std::error_code not_there;
  const std::filesystem::path file_itself = std::filesystem::canonical(path, not_there);
  const std::string name = (not_there ? path : file_itself.string()) + ".lock";
  base::UniqueFd file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) {
    return base::fail(base::ErrorCode::unavailable, "the database cannot be opened",
                      name + ": " + std::generic_category().message(errno));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return base::fail(base::ErrorCode::already_exists, "the database is in use by another Baton",
                      name + " is locked by another process");
  }
  return FileLock(std::move(file));
}

}  // namespace baton::store::sqlite
