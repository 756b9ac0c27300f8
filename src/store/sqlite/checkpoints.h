// Checkpoints: copies SQLite's write-ahead log into the database on a thread of its own. On the writer's
// thread a copy would stop every send for about 10 ms, several times a second.
//
// The thread copies and flushes committed pages while the writer continues. Under steady writing that never
// ends, and a log that is not copied to its end never starts over, so the writer copies the last pages
// itself. If the log has 64 MiB, the writer waits for the thread. The log grows beyond that only if copying
// fails or a reader blocks it; then the copy is tried again. After a failed flush it is unknown what the disk
// has, although the log counts as copied.
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
  // Replaces `writer`'s automatic checkpoints. `writer` must outlive this object.
  Checkpoints(const std::string& path, Connection& writer);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Call after each commit, with no transaction open.
  void after_commit();
  // Whether a flush has failed. If so, the program must end without closing the database, so that the next
  // start copies the whole log again.
  bool has_lost() const { return has_lost_; }

 private:
  enum class Stage { idle, copying, copied };
  void run(const std::stop_token& stop);
  void copy_pages(Connection& connection);

  Connection& writer_;
  int frames_ = 0;  // in the log
  int due_;         // the number of frames that begins a checkpoint

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Stage stage_ = Stage::idle;

  std::atomic<bool> has_lost_{false};
  Connection copier_;  // that thread only
  std::jthread thread_;
};

}  // namespace baton::store::sqlite
