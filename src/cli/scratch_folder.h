// ScratchFolder: a new temporary folder, deleted with this object.
//
// Threads: one.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace baton::cli {

class ScratchFolder {
 public:
  // Creates a folder that only its owner may read. Fails with unavailable.
  static base::Result<ScratchFolder> make() {
    std::string name = (std::filesystem::temp_directory_path() / "baton-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return base::fail(base::ErrorCode::unavailable, name + ": the folder cannot be created");
    return ScratchFolder(name);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace baton::cli
