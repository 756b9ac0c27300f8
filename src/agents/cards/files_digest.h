// files_digest: detects changes to the files of a folder. Threads: any. Blocks on the disk.
#pragma once

#include <cstdint>
#include <filesystem>

namespace baton::agents {

// Changes whenever a file below the folder is added, removed or changed. Ignores hidden files, files that
// interpreters and programs write beside their sources (__pycache__, node_modules, *.pyc, *.log, *.tmp,
// *.db, *.db-wal, *.db-shm, *~), the contents of folders that are links, and all files after the first
// 10,000.
std::uint64_t files_digest(const std::filesystem::path& folder);

}  // namespace baton::agents
