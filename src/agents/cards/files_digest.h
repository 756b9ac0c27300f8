// files_digest: whether the files of a folder are what they were. Threads: any. Blocks on the disk.
#pragma once

#include <cstdint>
#include <filesystem>

namespace baton::agents {

// Changes whenever a file below the folder is added, removed or changed. Left out are hidden files, what
// interpreters and programs write beside their sources (__pycache__, node_modules, *.log, *.tmp, *.db,
// *.db-wal, *.db-shm, *~), what lies in folders that are links, and what comes after the first 10,000 files.
std::uint64_t files_digest(const std::filesystem::path& folder);

}  // namespace baton::agents
