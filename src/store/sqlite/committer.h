// Committer: two threads. One owns the writing connection and groups whatever is waiting into one
// transaction; the other has the groups put on the disk (`flush`), then tells whoever asked. While a group is
// being flushed the next one is gathered, to be committed once the disk is free: the slower the disk, the
// larger the groups.
//
// Threads: `push` from any thread, without waiting for the disk. Writes are applied on the committing thread
// in the order they were pushed, and finish in that order on the flushing thread. They must not wait for
// another write on either.
//
// Readers see a group a moment before it is on the disk: see `settle`.
//
// Full: past the bound a write is refused with `overloaded` at once, and finishes in its turn.
//
// Shutdown: the destructor commits and flushes what is waiting, and what is still pushed by those who are
// told, then joins.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
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
  // The transaction is committed; the flush is under way. Called once, on the committing thread, unless the
  // write was refused.
  virtual void committed() {}
  // Tells whoever asked. Called once, last.
  virtual void finish() = 0;
};

struct CommitterLimits {
  std::size_t writes_max = 20'000;       // waiting
  std::size_t bytes_max = 256u << 20;    // waiting, about
  std::size_t batch_writes_max = 1'000;  // in one transaction
  std::size_t batch_bytes_max = 16u << 20;
  // So many pay for a commit and a flush: the disk is not kept waiting for more. With fewer, what a commit
  // costs by itself shows; with many more, all callers are in the same group, and all threads wait for the
  // same one.
  std::size_t batch_writes_worth = 32;
};

class Committer {
 public:
  // Returns once all that was committed before the call is on the disk.
  using Flush = std::function<void()>;

  Committer(WriteState& state, CommitterLimits limits, Flush flush);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // `bytes` is about what the write holds in memory.
  void push(std::unique_ptr<Write> write, std::size_t bytes);

  // Waits until whatever a reader can have seen by now is on the disk. Not from `committed` or `finish`.
  void settle() const;

 private:
  struct Waiting {
    std::unique_ptr<Write> write;
    std::size_t bytes;
    bool refused;
  };
  struct Batch {
    std::vector<Waiting> writes;
    std::size_t bytes = 0;
    std::uint64_t number = 0;
  };

  void run_commits();
  void run_flushes();
  bool next_to_flush(Batch& batch);
  void tell(Batch& batch);
  bool gather(Batch& batch);
  void take(Batch& batch);
  bool has_room(const Batch& batch) const;
  void commit(Batch& batch);
  void commit_one_by_one(Batch& batch);
  void transact(Batch& batch);
  void end_transaction();
  static void refuse(Waiting& waiting, const SQLite::Exception& exception);
  void roll_back(std::span<Waiting> writes);
  void hand_over(Batch batch);
  static std::vector<Write*> to_tell(const Batch& batch);
  void tell_committed(const std::vector<Write*>& writes);

  WriteState& state_;
  const CommitterLimits limits_;
  const Flush flush_;
  // Groups: those of which a reader may have seen something, those whose writes have heard that they are
  // committed, and those that are on the disk.
  std::atomic<std::uint64_t> visible_ = 0, heard_ = 0, flushed_ = 0;

  std::mutex mutex_;
  std::condition_variable may_gather_, may_flush_;
  std::deque<Waiting> queue_;
  std::size_t waiting_writes_ = 0;  // those in the queue that are not refused
  std::size_t waiting_bytes_ = 0;
  Batch to_flush_;         // waits for the flushing thread, unless it is empty
  bool flushing_ = false;  // a flush is under way
  int untold_ = 0;         // groups that were handed over and have not finished
  bool stopping_ = false;  // no more writes
  bool done_ = false;      // no more groups
  std::jthread committing_thread_, flushing_thread_;
};

}  // namespace baton::store::sqlite
