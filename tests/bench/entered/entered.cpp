// For LD_PRELOAD into a program compiled with -finstrument-functions: records which functions run, and on
// which threads, in the file that ENTERED_FILE names. scripts/count_path maps the same file: it empties the
// table, sets `recording` around one request, and reads the table afterwards.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::size_t kThreads = 64;
constexpr std::size_t kFunctions = 1 << 16;

struct Function {
  std::atomic<std::uint64_t> address;
  std::atomic<std::uint64_t> threads;  // a bit for each place in Table::threads
  std::atomic<std::uint64_t> first;    // the number of its first call
};

// scripts/count_path depends on this layout.
struct Table {
  std::atomic<std::uint64_t> recording;
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> thread_count;
  std::atomic<std::uint64_t> threads[kThreads];  // their kernel ids
  Function functions[kFunctions];                // hashed by address, with linear probing
};

Table* table = nullptr;

std::uint64_t bit_of_this_thread() {
  thread_local std::uint64_t place = kThreads;
  if (place == kThreads) {
    place = table->thread_count.fetch_add(1);
    if (place >= kThreads) std::abort();
    table->threads[place] = static_cast<std::uint64_t>(gettid());
  }
  return std::uint64_t{1} << place;
}

void record(std::uint64_t address) {
  const std::uint64_t call = ++table->calls;
  for (std::uint64_t at = address * 0x9e3779b97f4a7c15 >> 48;; ++at) {
    Function& function = table->functions[at % kFunctions];
    std::uint64_t seen = 0;
    const bool is_new = function.address.compare_exchange_strong(seen, address);
    if (is_new || seen == address) {
      if (is_new) function.first = call;
      function.threads |= bit_of_this_thread();
      return;
    }
  }
}

[[gnu::constructor]] void map_table() {
  const char* const name = std::getenv("ENTERED_FILE");
  if (name == nullptr) return;
  const int file = open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) std::abort();
  void* const memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::abort();
  close(file);
  table = static_cast<Table*>(memory);
}

}  // namespace

extern "C" void __cyg_profile_func_enter(void* function, void*) {
  if (table != nullptr && table->recording != 0) record(reinterpret_cast<std::uint64_t>(function));
}

extern "C" void __cyg_profile_func_exit(void*, void*) {}
