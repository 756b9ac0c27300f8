#include "agents/cards/files_digest.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace baton::agents {
namespace {

namespace fs = std::filesystem;

constexpr int kFilesMax = 10'000;

bool is_source(const fs::path& file) {
  constexpr std::array<std::string_view, 6> kWritten{".log", ".tmp", ".db", ".db-wal", ".db-shm", ".pyc"};
  const std::string name = file.filename().string();
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return !name.starts_with('.') && !name.ends_with('~') && name != "__pycache__" && name != "node_modules" &&
         std::ranges::none_of(kWritten, ends);
}

}  // namespace

std::uint64_t files_digest(const fs::path& folder) {
  std::uint64_t digest = 0;
  int files = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const bool is_folder = entry->is_directory(gone);
    if (!is_source(entry->path())) {
      if (is_folder) entry.disable_recursion_pending();
      continue;
    }
    if (is_folder) continue;
    if (++files > kFilesMax) break;
    const auto changed = entry->last_write_time(gone).time_since_epoch().count();
    const std::string facts =
        entry->path().string() + '/' + std::to_string(changed) + '/' + std::to_string(entry->file_size(gone));
    digest += std::hash<std::string>{}(facts);  // a sum, so the order of the files does not matter
  }
  return digest;
}

}  // namespace baton::agents
