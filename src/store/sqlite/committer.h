// Committer: group commit with two threads. The committing thread owns the writing connection and groups the
// queued writes into one transaction; the flushing thread flushes each group to disk (`flush`), then finishes
// its writes. While one group is flushed the next is gathered, so the slower the disk, the larger the groups.
//
// Threads: `push` from any thread, without waiting for the disk. Writes are applied on the committing thread
// in queue order, and finish in that order on the flushing thread. They must not wait for another write on
// either.
//
// Readers may see a group shortly before it is on disk: see `settle`.
//
// When the queue is full, writes fail with `overloaded`. Callbacks still run in queue order.
//
// Shutdown: the destructor commits and flushes the queue, including writes that callbacks still push, then
// joins.
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
  // Writes, and keeps the result. An exception rolls back the whole transaction.
  virtual void apply(WriteState& state) = 0;
  // Drops the result: the transaction was rolled back. `apply` may be called again.
  virtual void undo() = 0;
  // Drops the data to be written; the result is this error.
  virtual void refuse(const base::Error& error) = 0;
  // The transaction is committed, but perhaps not flushed. Called once, on the committing thread, unless the
  // write was refused.
  virtual void committed() {}
  // Reports the result. Called once, last.
  virtual void finish() = 0;
};

struct CommitterLimits {
  std::size_t writes_max = 20'000;       // queued
  std::size_t bytes_max = 256u << 20;    // queued, approximately
  std::size_t batch_writes_max = 1'000;  // in one transaction
  std::size_t batch_bytes_max = 16u << 20;
  // A group of this size is committed as soon as the disk is free. In smaller groups the fixed cost of a
  // commit dominates; in much larger ones all callers are in one group, and every thread waits for that one.
  std::size_t batch_writes_worth = 32;
};

class Committer {
 public:
  // Returns once everything committed before the call is on disk.
  using Flush = std::function<void()>;

  Committer(WriteState& state, CommitterLimits limits, Flush flush);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // `bytes`: the approximate memory the write holds.
  void push(std::unique_ptr<Write> write, std::size_t bytes);

  // Waits until everything a reader can have seen by now is on disk. Not from `committed` or `finish`.
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
  // Number of the last group that readers may see, whose writes were told `committed`, and that is on disk.
  std::atomic<std::uint64_t> visible_ = 0, heard_ = 0, flushed_ = 0;

  std::mutex mutex_;
  std::condition_variable may_gather_, may_flush_;
  std::deque<Waiting> queue_;
  std::size_t waiting_writes_ = 0;  // in the queue and not refused
  std::size_t waiting_bytes_ = 0;
  Batch to_flush_;         // for the flushing thread; empty: none
  bool flushing_ = false;  // a flush is in progress
  int untold_ = 0;         // groups handed over whose writes have not finished
  bool stopping_ = false;  // no more writes
  bool done_ = false;      // no more groups
  std::jthread committing_thread_, flushing_thread_;
};

}  // namespace baton::store::sqlite
