// Committer: the thread that owns the writing connection and groups whatever is waiting into one transaction.
//
// Threads: `push` from any thread, without waiting for the disk. Writes are applied, and finish, on the
// committing thread in the order they were pushed.
// Full: past the bound a write is refused with `overloaded` at once, and finishes in its turn.
// Shutdown: the destructor commits what is waiting, then joins.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "store/sqlite/write_state.h"

namespace baton::store::sqlite {

// One request to write.
class Write {
 public:
  virtual ~Write() = default;
  // Writes and keeps the result. What it throws undoes the whole transaction.
  virtual void apply(WriteState& state) = 0;
  // Forgets the result: the transaction was rolled back. `apply` may be called again.
  virtual void undo() = 0;
  // Gives up what would be written; the result is this error.
  virtual void refuse(const base::Error& error) = 0;
  // Tells whoever asked. Called once, last.
  virtual void finish() = 0;
};

struct CommitterLimits {
  std::size_t writes_max = 20'000;       // waiting
  std::size_t bytes_max = 256u << 20;    // waiting, about
  std::size_t batch_writes_max = 1'000;  // in one transaction
  std::size_t batch_bytes_max = 16u << 20;
};

class Committer {
 public:
  Committer(WriteState& state, CommitterLimits limits);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // `bytes` is about what the write holds in memory.
  void push(std::unique_ptr<Write> write, std::size_t bytes);

 private:
  struct Waiting {
    std::unique_ptr<Write> write;
    std::size_t bytes;
    bool refused;
  };
  using Batch = std::vector<Waiting>;

  void run();
  Batch take();
  void commit(Batch& batch);
  void commit_one_by_one(Batch& batch);
  void transact(Waiting* first, std::size_t count);

  WriteState& state_;
  const CommitterLimits limits_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<Waiting> queue_;
  std::size_t waiting_writes_ = 0;  // those in the queue that are not refused
  std::size_t waiting_bytes_ = 0;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace baton::store::sqlite
