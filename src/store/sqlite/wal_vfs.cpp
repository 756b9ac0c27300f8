#include "store/sqlite/wal_vfs.h"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <new>
#include <vector>

namespace baton::store::sqlite {
namespace {

constexpr char kName[] = "baton-wal";
// Most bytes gathered; a commit may be larger. SQLite's own files take less than 128 KiB in one call.
constexpr std::size_t kGatheredMax = 96u << 10;

sqlite3_vfs* system_vfs() {
  return sqlite3_vfs_find(nullptr);
}

// A SQLite file is a struct that begins with its method table, in memory that SQLite allocates; the system's
// own file follows it.
struct WalFile {
  sqlite3_file base;
  std::vector<char>* gathered;
  sqlite3_int64 begin;  // file offset of the gathered bytes
};

WalFile& wal_of(sqlite3_file* file) {
  return *reinterpret_cast<WalFile*>(file);
}
sqlite3_file* system_file(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(&wal_of(file) + 1);
}

// Writes and clears the gathered bytes, even on failure: then the commit has failed too.
int write_out(sqlite3_file* file) {
  std::vector<char>& gathered = *wal_of(file).gathered;
  if (gathered.empty()) return SQLITE_OK;
  sqlite3_file* system = system_file(file);
  const int size = static_cast<int>(gathered.size());
  const int result = system->pMethods->xWrite(system, gathered.data(), size, wal_of(file).begin);
  gathered.clear();
  return result;
}

int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  WalFile& wal = wal_of(file);
  const bool goes_on = offset == wal.begin + static_cast<sqlite3_int64>(wal.gathered->size());
  if (!goes_on || wal.gathered->size() + static_cast<std::size_t>(size) > kGatheredMax) {
    if (const int result = write_out(file); result != SQLITE_OK) return result;
    wal.begin = offset;
  }
  try {
    const char* bytes = static_cast<const char*>(data);
    wal.gathered->insert(wal.gathered->end(), bytes, bytes + size);
  } catch (const std::bad_alloc&) {
    wal.gathered->clear();
    return SQLITE_IOERR_NOMEM;
  }
  return SQLITE_OK;
}

int sync(sqlite3_file* file, int flags) {
  if (const int result = write_out(file); result != SQLITE_OK) return result;
  const bool is_checkpoint = (flags & 0x0f) == SQLITE_SYNC_FULL;
  sqlite3_file* system = system_file(file);
  return is_checkpoint ? system->pMethods->xSync(system, flags) : SQLITE_OK;
}

int close(sqlite3_file* file) {
  const int written = write_out(file);
  delete wal_of(file).gathered;
  sqlite3_file* system = system_file(file);
  const int closed = system->pMethods->xClose(system);
  return written == SQLITE_OK ? closed : written;
}

// Writes out the gathered bytes first, so that the call sees the whole file.
template <auto Method, class... Arguments>
int pass_on(sqlite3_file* file, Arguments... arguments) {
  if (const int result = write_out(file); result != SQLITE_OK) return result;
  sqlite3_file* system = system_file(file);
  return (system->pMethods->*Method)(system, arguments...);
}

constexpr sqlite3_io_methods methods() {
  sqlite3_io_methods all{};
  all.iVersion = 1;  // the rest is of database files
  all.xClose = close;
  all.xRead = pass_on<&sqlite3_io_methods::xRead>;
  all.xWrite = write;
  all.xTruncate = pass_on<&sqlite3_io_methods::xTruncate>;
  all.xSync = sync;
  all.xFileSize = pass_on<&sqlite3_io_methods::xFileSize>;
  all.xLock = pass_on<&sqlite3_io_methods::xLock>;
  all.xUnlock = pass_on<&sqlite3_io_methods::xUnlock>;
  all.xCheckReservedLock = pass_on<&sqlite3_io_methods::xCheckReservedLock>;
  all.xFileControl = pass_on<&sqlite3_io_methods::xFileControl>;
  all.xSectorSize = pass_on<&sqlite3_io_methods::xSectorSize>;
  all.xDeviceCharacteristics = pass_on<&sqlite3_io_methods::xDeviceCharacteristics>;
  return all;
}
constexpr sqlite3_io_methods kMethods = methods();

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  sqlite3_vfs* system = system_vfs();
  if ((flags & SQLITE_OPEN_WAL) == 0) return system->xOpen(system, name, file, flags, flags_out);
  file->pMethods = nullptr;  // not to be closed
  const int result = system->xOpen(system, name, system_file(file), flags, flags_out);
  if (result != SQLITE_OK) return result;
  wal_of(file).gathered = new std::vector<char>();
  wal_of(file).begin = 0;
  file->pMethods = &kMethods;
  return SQLITE_OK;
}

int add_vfs() {
  static sqlite3_vfs vfs = *system_vfs();
  vfs.zName = kName;
  vfs.szOsFile += static_cast<int>(sizeof(WalFile));
  vfs.xOpen = open;
  return sqlite3_vfs_register(&vfs, 0);
}

}  // namespace

const char* wal_vfs() {
  static const int result = add_vfs();
  if (result != SQLITE_OK) throw SQLite::Exception("the write-ahead log's file system", result);
  return kName;
}

}  // namespace baton::store::sqlite
