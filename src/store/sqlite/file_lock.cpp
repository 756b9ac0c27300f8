#include "store/sqlite/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace baton::store::sqlite {
namespace {

// The byte to lock. It is beyond the size of any database, and SQLite does not lock it.
constexpr off_t kLockedByte = off_t{1} << 62;

tl::unexpected<base::Error> cannot_open(const std::string& name) {
  return base::fail(base::ErrorCode::unavailable, "the database cannot be opened",
                    name + ": " + std::generic_category().message(errno));
}

tl::unexpected<base::Error> in_use(const std::string& name) {
  return base::fail(base::ErrorCode::already_exists, "the database is in use by another Baton",
                    name + " is locked by another process");
}

// Takes a lock that belongs to the descriptor and not to the process, so that closing another descriptor of
// the file does not release it.
bool lock_file(const base::UniqueFd& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  return ::fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

}  // namespace

base::Result<FileLock> FileLock::acquire(const std::string& path) {
  std::error_code not_there;
  const std::filesystem::path file_itself = std::filesystem::canonical(path, not_there);
  const std::string name = (not_there ? path : file_itself.string()) + ".lock";
  base::UniqueFd beside(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!beside.valid()) return cannot_open(name);
  if (::flock(beside.get(), LOCK_EX | LOCK_NB) != 0) return in_use(name);
  base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid() && errno != ENOENT) return cannot_open(path);
  if (file.valid() && !lock_file(file)) return in_use(path);
  return FileLock(std::move(beside), std::move(file));
}

}  // namespace baton::store::sqlite
