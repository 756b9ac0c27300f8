// FolderWatch: reports changes of the files below a folder, once the files have stopped changing
// (agents::files_digest). It polls four times a second, because not every file system reports changes.
//
// Threads: has its own thread, which calls `on_change`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <thread>

namespace baton::app {

class FolderWatch {
 public:
  // `known`: the digest of the files that were read. `on_change` is not called after the destructor returns.
  FolderWatch(const std::filesystem::path& folder, std::uint64_t known, std::function<void()> on_change);

 private:
  std::jthread thread_;
};

}  // namespace baton::app
