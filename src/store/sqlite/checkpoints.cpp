#include "store/sqlite/checkpoints.h"

#include <pthread.h>
#include <sqlite3.h>

#include "base/thread_priority.h"

namespace baton::store::sqlite {
namespace {

// 16 MiB, four times SQLite's default, so that fewer pages are copied twice.
constexpr int kFrames = 4'000;
constexpr int kFramesToTryAgain = 250;
constexpr int kFramesMax = 4 * kFrames;

// Flushes the database's file. Uses SQLite's own handle, because closing another one would release all locks.
bool flush_database(sqlite3* database) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) == SQLITE_OK;
}

int note_frames(void* frames, sqlite3*, const char*, int count) {
  *static_cast<int*>(frames) = count;
  return SQLITE_OK;
}

}  // namespace

Checkpoints::Checkpoints(const std::string& path, Connection& writer)
    : writer_(writer),
      due_(kFrames),
      copier_(path, Connection::Mode::write),
      thread_([this](const std::stop_token& stop) { run(stop); }) {
  sqlite3_wal_hook(writer.database().getHandle(), note_frames, &frames_);
}

Checkpoints::~Checkpoints() {
  sqlite3_wal_hook(writer_.database().getHandle(), nullptr, nullptr);
}

void Checkpoints::after_commit() {
  if (frames_ < due_) {
    if (frames_ < kFrames) due_ = kFrames;  // the log has started over
    return;
  }
  std::unique_lock lock(mutex_);
  if (frames_ >= kFramesMax) changed_.wait(lock, [this] { return stage_ != Stage::copying; });
  if (stage_ == Stage::copied) {
    stage_ = Stage::idle;
    lock.unlock();
    copy_pages(writer_);
    due_ = frames_ + kFramesToTryAgain;
  } else if (stage_ == Stage::idle) {
    stage_ = Stage::copying;
    lock.unlock();
    changed_.notify_all();
  }
}

// Copies the pages that no reader blocks. Does nothing after a failed flush: the next flush may succeed
// without the lost pages, and the log would start over.
void Checkpoints::copy_pages(Connection& connection) {
  if (has_lost_) return;
  sqlite3* const database = connection.database().getHandle();
  const int code = sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && sqlite3_extended_errcode(database) == SQLITE_IOERR_FSYNC) has_lost_ = true;
}

void Checkpoints::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "checkpoint");
  base::set_priority(base::ThreadPriority::low);  // copying can wait, sends cannot
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return stage_ == Stage::copying; })) return;
    }
    // Few pages are committed during the first pass, and almost none during the second.
    copy_pages(copier_);
    copy_pages(copier_);
    // A pass flushes the database only if it reaches the end of the log. Without this flush the writer's pass
    // would have to flush everything.
    if (!has_lost_ && !flush_database(copier_.database().getHandle())) has_lost_ = true;
    {
      std::lock_guard lock(mutex_);
      stage_ = Stage::copied;
    }
    changed_.notify_all();
  }
}

}  // namespace baton::store::sqlite
