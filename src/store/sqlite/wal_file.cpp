#include "store/sqlite/wal_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace baton::store::sqlite {

base::Result<WalFile> WalFile::open(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) {
    return base::fail(base::ErrorCode::unavailable, "the database cannot be opened",
                      path + ": " + std::generic_category().message(errno));
  }
  return WalFile(std::move(file));
}

base::Result<void> WalFile::flush() const {
  if (::fdatasync(file_.get()) == 0) return {};
  return base::fail(
      base::ErrorCode::unavailable, "the store is temporarily unavailable; try again",
      "the database's log cannot be flushed to disk: " + std::generic_category().message(errno));
}

}  // namespace baton::store::sqlite
