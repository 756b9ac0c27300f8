// FolderWatch: tells that files below a folder have changed, once they rest (agents::files_digest). It looks
// four times a second, since not every file system tells.
//
// Threads: one of its own, which calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <thread>

namespace baton::app {

class FolderWatch {
 public:
  // `known`: the digest of the files that were read. `on_change` is not called any more once this is
  // destroyed.
  FolderWatch(const std::filesystem::path& folder, std::uint64_t known, std::function<void()> on_change);

 private:
  std::jthread thread_;
};

}  // namespace baton::app
