// Checkpoints: copies SQLite's write-ahead log into the database on a thread of its own. On the writer's
// thread a copy would stop every send for some 10 ms, several times a second.
//
// The thread copies and flushes what was committed while the writer goes on. Under steady writing that never
// ends, and a log that is not copied to its end never begins anew; so the writer copies the last pages
// itself. If it is 64 MiB ahead it waits for the thread: the log outgrows that only where copying fails or a
// reader is in the way, and then it is tried again.
//
// Threads: all methods on the writer's thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/unique_fd.h"
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

 private:
  enum class Stage { idle, copying, copied };
  void run(const std::stop_token& stop);

  Connection& writer_;
  int frames_ = 0;  // in the log
  int due_;         // begin a checkpoint at so many

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Stage stage_ = Stage::idle;

  Connection copier_;        // that thread only
  base::UniqueFd database_;  // that thread only
  std::jthread thread_;
};

}  // namespace baton::store::sqlite
