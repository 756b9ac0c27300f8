#include "store/sqlite/checkpoints.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

namespace baton::store::sqlite {
namespace {

// 16 MiB, four times SQLite's default: fewer pages are copied twice.
constexpr int kFrames = 4'000;
constexpr int kFramesToTryAgain = 250;
constexpr int kFramesMax = 4 * kFrames;
constexpr int kNice = 10;  // copying may wait, senders not

// Copies what no reader is in the way of.
void copy_pages(Connection& connection) {
  sqlite3_wal_checkpoint_v2(connection.database().getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                            nullptr);
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
      database_(::open(path.c_str(), O_RDWR | O_CLOEXEC)),
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

void Checkpoints::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "checkpoint");
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return stage_ == Stage::copying; })) return;
    }
    // What was committed during the first pass is little; during the second, next to nothing.
    copy_pages(copier_);
    copy_pages(copier_);
    // A pass flushes the database only if it comes to the end of the log: the writer's would flush it all.
    ::fdatasync(database_.get());
    {
      std::lock_guard lock(mutex_);
      stage_ = Stage::copied;
    }
    changed_.notify_all();
  }
}

}  // namespace baton::store::sqlite
