// For LD_PRELOAD: every flush takes BENCH_FLUSH_DELAY_MS longer, as on a disk that is slower than this
// machine's. Flushes run one at a time, like on a disk.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

using Flush = int (*)(int);

Flush real(const char* name) {
  return reinterpret_cast<Flush>(dlsym(RTLD_NEXT, name));
}

void wait_as_a_disk() {
  static std::mutex disk;
  static const char* const text = std::getenv("BENCH_FLUSH_DELAY_MS");
  static const double milliseconds = text == nullptr ? 0 : std::atof(text);
  const std::lock_guard lock(disk);
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

}  // namespace

extern "C" int fsync(int fd) {
  static const Flush flush = real("fsync");
  wait_as_a_disk();
  return flush(fd);
}

extern "C" int fdatasync(int fd) {
  static const Flush flush = real("fdatasync");
  wait_as_a_disk();
  return flush(fd);
}
