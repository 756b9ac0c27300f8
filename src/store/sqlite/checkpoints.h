// Checkpoints: copies SQLite's write-ahead log into the database on a thread of its own. On the writer's
// thread a copy would stop every send for some 10 ms, several times a second.
//
// The thread copies and flushes what was committed while the writer goes on. Under steady writing that never
// ends, and a log that is not copied to its end never begins anew; so the writer copies the last pages
// itself. If it is 64 MiB ahead it waits for the thread: the log outgrows that only where copying fails or a
// reader is in the way, and then it is tried again. After a failed flush nobody knows what the disk has,
// while the log counts as copied.
//
// Threads: all methods on the writer's thread, `has_lost` on any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

class Checkpoints {
 public:
  // Takes the place of `writer`'s automatic checkpoints. `writer` must outlive this.
  Checkpoints(const std::string& path, Connection& writer);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Call after each commit, with no transaction open.
  void after_commit();
  // A flush has failed. The program must end without closing the database, so that the next start copies the
  // whole log again.
  bool has_lost() const { return has_lost_; }

 private:
  enum class Stage { idle, copying, copied };
  void run(const std::stop_token& stop);
  void copy_pages(Connection& connection);

  Connection& writer_;
  int frames_ = 0;  // in the log
  int due_;         // begin a checkpoint at so many

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Stage stage_ = Stage::idle;

  std::atomic<bool> has_lost_{false};
  Connection copier_;  // that thread only
  std::jthread thread_;
};

}  // namespace baton::store::sqlite
