#include "store/sqlite/checkpoints.h"

#include <pthread.h>
#include <sqlite3.h>

#include "base/thread_priority.h"

namespace baton::store::sqlite {
namespace {

// 16 MiB, four times SQLite's default: fewer pages are copied twice.
constexpr int kFrames = 4'000;
constexpr int kFramesToTryAgain = 250;
constexpr int kFramesMax = 4 * kFrames;

// Flushes the database's file. By SQLite's own handle: closing another one would drop the locks of all.
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
    if (frames_ < kFrames) due_ = kFrames;  // the log has begun anew
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

// Copies what no reader is in the way of. Not after a failed flush: the next one may succeed without the
// pages that were lost, and the log would begin anew.
void Checkpoints::copy_pages(Connection& connection) {
  if (has_lost_) return;
  sqlite3* const database = connection.database().getHandle();
  const int code = sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && sqlite3_extended_errcode(database) == SQLITE_IOERR_FSYNC) has_lost_ = true;
}

void Checkpoints::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "checkpoint");
  base::set_priority(base::ThreadPriority::low);  // copying may wait, senders not
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return stage_ == Stage::copying; })) return;
    }
    // What was committed during the first pass is little; during the second, next to nothing.
    copy_pages(copier_);
    copy_pages(copier_);
    // A pass flushes the database only if it comes to the end of the log: the writer's would flush it all.
    if (!has_lost_ && !flush_database(copier_.database().getHandle())) has_lost_ = true;
    {
      std::lock_guard lock(mutex_);
      stage_ = Stage::copied;
    }
    changed_.notify_all();
  }
}

}  // namespace baton::store::sqlite
