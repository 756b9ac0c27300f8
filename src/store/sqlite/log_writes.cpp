#include "store/sqlite/log_writes.h"

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace baton::store::sqlite {
namespace {

// SQLite's "WAL File Format": a header precedes each page. Its second number is the size of the database
// after the commit if the page is the commit's last, else 0.
constexpr std::size_t kHeaderSize = 24;
constexpr std::size_t kSizeAfterCommit = 4;
constexpr std::string_view kNoSize("\0\0\0\0", 4);

// Pages of a large commit are written when so many bytes wait: SQLite's default file system writes at most
// 128 KiB by one call.
constexpr std::size_t kWaitingMax = 64 << 10;

// A log that is open. The memory is SQLite's, and the file of the default file system, `below`, follows in
// it.
class LogFile final : public sqlite3_file {
 public:
  static int open(sqlite3_vfs& default_vfs, const char* name, sqlite3_file* memory, int flags, int* out);

 private:
  explicit LogFile(sqlite3_file* below) : sqlite3_file{&kMethods}, below_(below) {}

  static const sqlite3_io_methods kMethods;
  static LogFile& of(sqlite3_file* file) { return *static_cast<LogFile*>(file); }
  const sqlite3_io_methods& below() const { return *below_->pMethods; }

  int close();
  int write(std::string_view bytes, sqlite3_int64 offset);
  int write_waiting();
  // Returns the result of `call` once nothing waits.
  template <typename Call>
  int after_waiting(Call call) {
    const int code = write_waiting();
    return code == SQLITE_OK ? call() : code;
  }

  sqlite3_file* below_;
  std::string waiting_;
  sqlite3_int64 begin_ = 0;  // where `waiting_` belongs
  sqlite3_int64 end_ = -1;   // where the last write ended
  bool has_header_ = false;  // the last write was the header of a page that will wait
  bool is_last_page_ = false;
};

constexpr std::size_t kOwnSize = (sizeof(LogFile) + 15) / 16 * 16;

// No shared memory and no mapping: SQLite uses both with the database's file only.
const sqlite3_io_methods LogFile::kMethods = {
    1,
    [](sqlite3_file* file) { return of(file).close(); },
    [](sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
      LogFile& log = of(file);
      return log.after_waiting([&] { return log.below().xRead(log.below_, into, size, offset); });
    },
    [](sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
      return of(file).write({static_cast<const char*>(bytes), static_cast<std::size_t>(size)}, offset);
    },
    [](sqlite3_file* file, sqlite3_int64 size) {
      LogFile& log = of(file);
      return log.after_waiting([&] { return log.below().xTruncate(log.below_, size); });
    },
    [](sqlite3_file* file, int flags) {
      LogFile& log = of(file);
      return log.after_waiting([&] { return log.below().xSync(log.below_, flags); });
    },
    [](sqlite3_file* file, sqlite3_int64* size) {
      LogFile& log = of(file);
      return log.after_waiting([&] { return log.below().xFileSize(log.below_, size); });
    },
    [](sqlite3_file* file, int level) { return of(file).below().xLock(of(file).below_, level); },
    [](sqlite3_file* file, int level) { return of(file).below().xUnlock(of(file).below_, level); },
    [](sqlite3_file* file, int* is_held) {
      return of(file).below().xCheckReservedLock(of(file).below_, is_held);
    },
    [](sqlite3_file* file, int operation, void* argument) {
      return of(file).below().xFileControl(of(file).below_, operation, argument);
    },
    [](sqlite3_file* file) { return of(file).below().xSectorSize(of(file).below_); },
    [](sqlite3_file* file) { return of(file).below().xDeviceCharacteristics(of(file).below_); },
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr};

int LogFile::open(sqlite3_vfs& default_vfs, const char* name, sqlite3_file* memory, int flags, int* out) {
  auto* const below = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(memory) + kOwnSize);
  memory->pMethods = nullptr;  // so that SQLite does not close the file after a failure
  const int code = default_vfs.xOpen(&default_vfs, name, below, flags, out);
  if (code == SQLITE_OK) new (memory) LogFile(below);
  return code;
}

int LogFile::close() {
  const int written = write_waiting();
  const int closed = below().xClose(below_);
  this->~LogFile();
  return written == SQLITE_OK ? closed : written;
}

// Only a header where the last write ended begins a page that waits, because SQLite also corrects headers of
// pages that it wrote before.
int LogFile::write(std::string_view bytes, sqlite3_int64 offset) {
  const bool continues = offset == end_;
  end_ = offset + static_cast<sqlite3_int64>(bytes.size());
  const bool ends_page = std::exchange(has_header_, false) && continues;
  if (waiting_.empty()) begin_ = offset;
  if (continues && !ends_page && bytes.size() == kHeaderSize) {
    waiting_ += bytes;
    has_header_ = true;
    is_last_page_ = bytes.substr(kSizeAfterCommit, kNoSize.size()) != kNoSize;
    return SQLITE_OK;
  }
  if (ends_page) {
    waiting_ += bytes;
    return is_last_page_ || waiting_.size() >= kWaitingMax ? write_waiting() : SQLITE_OK;
  }
  return after_waiting(
      [&] { return below().xWrite(below_, bytes.data(), static_cast<int>(bytes.size()), offset); });
}

// After a failure the transaction fails, so what waited is dropped.
int LogFile::write_waiting() {
  if (waiting_.empty()) return SQLITE_OK;
  const int code = below().xWrite(below_, waiting_.data(), static_cast<int>(waiting_.size()), begin_);
  waiting_.clear();
  if (code != SQLITE_OK) end_ = -1;
  return code;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  sqlite3_vfs& default_vfs = *sqlite3_vfs_find(nullptr);
  if ((flags & SQLITE_OPEN_WAL) != 0) return LogFile::open(default_vfs, name, file, flags, out);
  return default_vfs.xOpen(&default_vfs, name, file, flags, out);
}

}  // namespace

const char* log_writes_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    sqlite3_vfs made = *sqlite3_vfs_find(nullptr);
    made.zName = "baton";
    made.szOsFile += static_cast<int>(kOwnSize);
    made.pNext = nullptr;
    made.xOpen = open_file;
    return made;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  static_cast<void>(registered);
  return vfs.zName;
}

}  // namespace baton::store::sqlite
