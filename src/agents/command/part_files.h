// PartFiles: the data and files of a message, as files on disk, for programs that take paths as arguments.
//
// They are in a folder of their own below TMPDIR, which only Baton's user can open. The destructor removes
// it. Writing and removing a thousand files takes long, so do both on a thread that may block.
//
// Threads: `stop` from any; the rest one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agents/settings.h"
#include "base/error.h"
#include "task/message.h"

namespace baton::agents {

class PartFiles {
 public:
  // Whether any part of the message becomes a file: all but the text parts do.
  static bool are_in(const task::Message& message);

  PartFiles(const task::Message& message, const PartFileLimits& limits);
  PartFiles(const PartFiles&) = delete;
  PartFiles& operator=(const PartFiles&) = delete;
  ~PartFiles();

  // Writes the files: "1-report.pdf", "2-data.json", numbered in the order of the parts. Fails with too_large
  // past a limit, before it writes any; with invalid_argument for a file given only by URL and for invalid
  // base64; with unavailable if writing fails, or after `stop`. Call once.
  base::Result<void> write();
  void stop() { stopped_ = true; }

  // Absolute, in the order of the parts.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  base::Result<void> check(const std::filesystem::path& pattern) const;
  base::Result<void> make_folder(const std::filesystem::path& pattern);
  base::Result<void> add(const task::Part& part);
  base::Result<void> put(const std::string& name, std::string_view content);

  const PartFileLimits limits_;
  std::size_t count_ = 0;          // of the parts that become files
  std::vector<task::Part> parts_;  // those; empty if there are too many
  std::atomic<bool> stopped_{false};
  std::filesystem::path folder_;  // empty: nothing was written
  std::vector<std::string> paths_;
};

}  // namespace baton::agents
