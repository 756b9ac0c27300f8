// PartFiles: the data and files of a message, as files on disk, for programs that take paths as arguments.
//
// They are in a folder of their own below TMPDIR, which only Baton's user can open. The destructor removes
// it.
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "task/message.h"

namespace baton::agents {

class PartFiles {
 public:
  PartFiles() = default;
  PartFiles(const PartFiles&) = delete;
  PartFiles& operator=(const PartFiles&) = delete;
  ~PartFiles();

  // Writes the files: "1-report.pdf", "2-data.json", numbered in the order of the parts; skips text parts.
  // Fails with invalid_argument for a file given only by URL and for invalid base64, and with unavailable if
  // writing fails. Call once.
  base::Result<void> write(const task::Message& message);

  // Absolute, in the order of the parts.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  base::Result<void> add(const task::Part& part);
  base::Result<void> put(const std::string& name, std::string_view content);

  std::filesystem::path folder_;  // empty: nothing was written
  std::vector<std::string> paths_;
};

}  // namespace baton::agents
