// files_digest: whether the files of a folder are what they were. Threads: any. Blocks on the disk.
#pragma once

#include <cstdint>
#include <filesystem>

namespace baton::agents {

// Another one whenever a file below the folder is added, removed or changed. Left out are what is hidden,
// what interpreters and programs write beside their sources (__pycache__, node_modules, *.log, *.tmp, *.db,
// *.db-wal,
// *.db-shm, *~), what is in folders that are links, and what comes after the first 10,000 files.
std::uint64_t files_digest(const std::filesystem::path& folder);

}  // namespace baton::agents
