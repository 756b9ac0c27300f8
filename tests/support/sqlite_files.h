// SqliteFiles: while one exists, SQLite opens its files with methods that a test has changed.
//
// Threads: make and destroy it while no database is open; the methods are called on any. One at a time.
#pragma once

#include <sqlite3.h>

namespace baton::test {

class SqliteFiles {
 public:
  // Changes the methods of a file that is opened. Returns false if the file keeps its own.
  using Change = bool (*)(const char* name, int flags, sqlite3_io_methods& methods);

  explicit SqliteFiles(Change change) {
    change_ = change;
    vfs_.zName = "changed";
    vfs_.xOpen = open;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~SqliteFiles() {
    sqlite3_vfs_register(usual_vfs_, 1);
    sqlite3_vfs_unregister(&vfs_);
  }
  SqliteFiles(const SqliteFiles&) = delete;
  SqliteFiles& operator=(const SqliteFiles&) = delete;

  // The methods before they were changed.
  static const sqlite3_io_methods& usual() { return usual_; }

 private:
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    const int code = usual_vfs_->xOpen(usual_vfs_, name, file, flags, out);
    if (code != SQLITE_OK) return code;
    sqlite3_io_methods methods = *file->pMethods;
    if (!change_(name, flags, methods)) return code;
    usual_ = *file->pMethods;
    methods_ = methods;
    file->pMethods = &methods_;
    return code;
  }

  static inline sqlite3_vfs* const usual_vfs_ = sqlite3_vfs_find(nullptr);
  static inline Change change_ = nullptr;
  static inline sqlite3_io_methods usual_{};
  static inline sqlite3_io_methods methods_{};
  sqlite3_vfs vfs_ = *usual_vfs_;
};

}  // namespace baton::test
