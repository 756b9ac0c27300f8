// WalFile: SQLite's write-ahead log, as a file to be flushed. The writing connection leaves the flush of its
// commits to us (wal_vfs.h); at a checkpoint it flushes by itself.
//
// After a flush that fails nobody knows what the disk holds: the system may take what it could not write for
// written, and say so the next time.
// Threads: any.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::store::sqlite {

class WalFile {
 public:
  // `path` is the log's, which must stay open elsewhere. Fails with unavailable.
  static base::Result<WalFile> open(const std::string& path);

  // Returns once all that was written before the call is on the disk. Fails with unavailable.
  base::Result<void> flush() const;

 private:
  explicit WalFile(base::UniqueFd file) : file_(std::move(file)) {}

  base::UniqueFd file_;
};

}  // namespace baton::store::sqlite
