#include "app/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "app/version.h"

namespace baton::app {
namespace {

namespace fs = std::filesystem;

// Returns the fields of /proc/self/stat after the program's name, which may contain any characters.
std::optional<std::istringstream> stat_fields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t after = line.rfind(')');
  if (after == std::string::npos) return std::nullopt;
  return std::istringstream(line.substr(after + 1));
}

// Returns the time of the machine's boot, in seconds since the epoch.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::int64_t open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  if (!folder) return -1;
  std::int64_t count = -3;  // ".", ".." and the folder's own
  while (readdir(folder.get()) != nullptr) ++count;
  return count;
}

}  // namespace

void add_process_metrics(base::MetricsText& out) {
  out.family("baton_build_info", base::MetricsText::Type::gauge, "Always 1; the label carries the version.");
  out.value({{"version", kVersion}}, std::int64_t{1});
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (auto fields = stat_fields()) {
    // Fields 3 to 24, in the numbering of proc(5).
    std::array<std::string, 22> field;
    for (std::size_t i = 0; i < field.size() && *fields >> field[i]; ++i) {
    }
    const auto number = [&](std::size_t nth) { return std::strtod(field[nth - 3].c_str(), nullptr); };
    out.counter("process_cpu_seconds_total", "User and system CPU time, in seconds.",
                (number(14) + number(15)) / tick);
    out.gauge("process_virtual_memory_bytes", "Virtual memory size, in bytes.", number(23));
    out.gauge("process_resident_memory_bytes", "Resident memory size, in bytes.",
              number(24) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    if (const auto boot = boot_time()) {
      out.gauge("process_start_time_seconds", "Start time of the process, in seconds since the Unix epoch.",
                *boot + number(22) / tick);
    }
  }
  if (const std::int64_t open = open_descriptors(); open >= 0) {
    out.gauge("process_open_fds", "Number of open file descriptors.", open);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    out.gauge("process_max_fds", "Maximum number of open file descriptors.",
              static_cast<std::int64_t>(limit.rlim_cur));
  }
}

void add_database_size(base::MetricsText& out, const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return;
  const std::uintmax_t log = fs::file_size(path + "-wal", error);
  out.family("baton_database_bytes", base::MetricsText::Type::gauge, "Size of the database files, in bytes.");
  out.value({{"file", "database"}}, static_cast<std::int64_t>(size));
  out.value({{"file", "log"}}, error ? std::int64_t{0} : static_cast<std::int64_t>(log));
}

}  // namespace baton::app
