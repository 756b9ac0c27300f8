#include "store/sqlite/committer.h"

#include <pthread.h>

#include <utility>

#include "base/worker_pool.h"
#include "store/sqlite/errors.h"

namespace baton::store::sqlite {
namespace {

void wait_for(const std::atomic<std::uint64_t>& count, std::uint64_t least) {
  for (std::uint64_t now = count; now < least; now = count) count.wait(now);
}

}  // namespace

Committer::Committer(WriteState& state, CommitterLimits limits, Flush flush)
    : state_(state),
      limits_(limits),
      flush_(std::move(flush)),
      committing_thread_([this] { run_commits(); }),
      flushing_thread_([this] { run_flushes(); }) {}

Committer::~Committer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  may_gather_.notify_one();
  committing_thread_.join();
  flushing_thread_.join();
}

void Committer::push(std::unique_ptr<Write> write, std::size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    // A write is accepted whatever its size if no other is queued.
    const bool full = waiting_writes_ >= limits_.writes_max ||
                      (waiting_writes_ > 0 && waiting_bytes_ + bytes > limits_.bytes_max);
    if (full) {
      write->refuse({base::ErrorCode::overloaded, "too much is waiting to be stored, try again later", {}});
    } else {
      ++waiting_writes_;
      waiting_bytes_ += bytes;
    }
    queue_.push_back({std::move(write), full ? 0 : bytes, full});
  }
  may_gather_.notify_one();
}

void Committer::settle() const {
  wait_for(flushed_, visible_);
}

void Committer::run_commits() {
  pthread_setname_np(pthread_self(), "store-commit");
  for (Batch batch; gather(batch); batch = {}) {
    commit(batch);
    const std::vector<Write*> writes = to_tell(batch);
    hand_over(std::move(batch));
    tell_committed(writes);
  }
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  may_flush_.notify_one();
}

void Committer::run_flushes() {
  pthread_setname_np(pthread_self(), "store-flush");
  for (Batch batch; next_to_flush(batch);) {
    flush_();
    {
      std::lock_guard lock(mutex_);
      flushing_ = false;
    }
    may_gather_.notify_one();
    flushed_ = batch.number;
    flushed_.notify_all();
    wait_for(heard_, batch.number);
    tell(batch);
  }
}

// Frees the writes' memory at once, not when the next group comes.
void Committer::tell(Batch& batch) {
  {
    const base::WorkerPool::Burst together;
    for (Waiting& waiting : batch.writes) waiting.write->finish();
    batch.writes.clear();
  }
  {
    std::lock_guard lock(mutex_);
    --untold_;
  }
  may_gather_.notify_one();
}

// False: there are no more groups.
bool Committer::next_to_flush(Batch& batch) {
  {
    std::unique_lock lock(mutex_);
    may_flush_.wait(lock, [this] { return done_ || !to_flush_.writes.empty(); });
    if (to_flush_.writes.empty()) return false;
    batch = std::exchange(to_flush_, {});
    flushing_ = true;
  }
  may_gather_.notify_one();
  return true;
}

// Adds queued writes to a group. The first call waits for writes; later calls add more as long as the disk is
// busy, or the group is small and the queue is not empty. False: the group is complete; if it is empty, the
// committer is stopping.
bool Committer::gather(Batch& batch) {
  std::unique_lock lock(mutex_);
  const std::size_t before = batch.writes.size();
  const auto is_complete = [&] {
    const bool disk_is_free = !flushing_ && to_flush_.writes.empty();
    return before > 0 && disk_is_free && (queue_.empty() || before >= limits_.batch_writes_worth);
  };
  // A callback may push another write.
  const auto is_over = [&] { return stopping_ && (before > 0 || untold_ == 0); };
  may_gather_.wait(lock, [&] { return !queue_.empty() || is_complete() || is_over(); });
  if (!is_complete()) take(batch);
  return batch.writes.size() > before;
}

void Committer::take(Batch& batch) {
  while (!queue_.empty() && has_room(batch)) {
    Waiting& next = queue_.front();
    batch.bytes += next.bytes;
    waiting_bytes_ -= next.bytes;
    waiting_writes_ -= next.refused ? 0 : 1;
    batch.writes.push_back(std::move(next));
    queue_.pop_front();
  }
}

bool Committer::has_room(const Batch& batch) const {
  return batch.writes.empty() || (batch.writes.size() < limits_.batch_writes_max &&
                                  batch.bytes + queue_.front().bytes <= limits_.batch_bytes_max);
}

void Committer::commit(Batch& batch) {
  try {
    transact(batch);
  } catch (const SQLite::Exception& exception) {
    if (!is_outage(exception)) return commit_one_by_one(batch);
    for (Waiting& waiting : batch.writes) {
      if (!waiting.refused) refuse(waiting, exception);
    }
  }
}

void Committer::refuse(Waiting& waiting, const SQLite::Exception& exception) {
  waiting.write->refuse(error_of(exception, "committing"));
  waiting.refused = true;
}

// One write fails, and not because of the disk: commit separately so that the others succeed.
void Committer::commit_one_by_one(Batch& batch) {
  for (Waiting& waiting : batch.writes) {
    try {
      state_.connection().begin();
      if (!waiting.refused) waiting.write->apply(state_);
      end_transaction();
    } catch (const SQLite::Exception& exception) {
      roll_back({&waiting, 1});
      refuse(waiting, exception);
    }
  }
}

void Committer::transact(Batch& batch) {
  try {
    state_.connection().begin();
    std::size_t applied = 0;
    do {
      for (; applied < batch.writes.size(); ++applied) {
        const Waiting& next = batch.writes[applied];
        if (!next.refused) next.write->apply(state_);
      }
    } while (gather(batch));
    end_transaction();
  } catch (const SQLite::Exception&) {
    roll_back(batch.writes);
    throw;
  }
}

void Committer::end_transaction() {
  state_.write_totals();
  ++visible_;
  state_.connection().commit();
}

void Committer::roll_back(std::span<Waiting> writes) {
  state_.connection().rollback();
  state_.forget();
  for (Waiting& waiting : writes) {
    if (!waiting.refused) waiting.write->undo();
  }
}

std::vector<Write*> Committer::to_tell(const Batch& batch) {
  std::vector<Write*> writes;
  writes.reserve(batch.writes.size());
  for (const Waiting& waiting : batch.writes) {
    if (!waiting.refused) writes.push_back(waiting.write.get());
  }
  return writes;
}

// The flushing thread owns the writes by now, but finishes them only after this.
void Committer::tell_committed(const std::vector<Write*>& writes) {
  {
    const base::WorkerPool::Burst together;
    for (Write* write : writes) write->committed();
  }
  heard_ = visible_.load();
  heard_.notify_one();
}

void Committer::hand_over(Batch batch) {
  {
    std::unique_lock lock(mutex_);
    may_gather_.wait(lock, [this] { return to_flush_.writes.empty(); });
    to_flush_ = std::move(batch);
    to_flush_.number = visible_;
    ++untold_;
  }
  may_flush_.notify_one();
}

}  // namespace baton::store::sqlite
