// WalFile: flushes SQLite's write-ahead log. The writing connection does not flush its commits
// (connection.cpp). At a checkpoint SQLite flushes the log by itself.
//
// After a failed flush the content of the disk is unknown: the system may mark pages it could not write as
// clean, and the next flush then succeeds.
// Threads: any.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::store::sqlite {

class WalFile {
 public:
  // `path`: the path of the log, which must stay open elsewhere. Fails with unavailable.
  static base::Result<WalFile> open(const std::string& path);

  // Returns once everything written before the call is on disk. Fails with unavailable.
  base::Result<void> flush() const;

 private:
  explicit WalFile(base::UniqueFd file) : file_(std::move(file)) {}

  base::UniqueFd file_;
};

}  // namespace baton::store::sqlite
