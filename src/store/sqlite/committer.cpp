#include "store/sqlite/committer.h"

#include <pthread.h>

#include <utility>

#include "store/sqlite/errors.h"

namespace baton::store::sqlite {

Committer::Committer(WriteState& state, CommitterLimits limits)
    : state_(state), limits_(limits), thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakeup_.notify_one();
  thread_.join();
}

void Committer::push(std::unique_ptr<Write> write, std::size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    // One write alone is let in however large it is.
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
  wakeup_.notify_one();
}

Committer::Batch Committer::take() {
  Batch batch;
  std::size_t bytes = 0;
  std::unique_lock lock(mutex_);
  wakeup_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  while (!queue_.empty() && batch.size() < limits_.batch_writes_max) {
    Waiting& next = queue_.front();
    if (!batch.empty() && bytes + next.bytes > limits_.batch_bytes_max) break;
    bytes += next.bytes;
    waiting_bytes_ -= next.bytes;
    waiting_writes_ -= next.refused ? 0 : 1;
    batch.push_back(std::move(next));
    queue_.pop_front();
  }
  return batch;
}

void Committer::run() {
  pthread_setname_np(pthread_self(), "store-commit");
  for (Batch batch = take(); !batch.empty(); batch = take()) {
    commit(batch);
    for (Waiting& waiting : batch) waiting.write->finish();
  }
}

void Committer::commit(Batch& batch) {
  try {
    transact(batch.data(), batch.size());
  } catch (const SQLite::Exception& exception) {
    if (!is_outage(exception)) return commit_one_by_one(batch);
    for (Waiting& waiting : batch) {
      if (!waiting.refused) waiting.write->refuse(error_of(exception, "committing"));
    }
  }
}

// One of them cannot be written, and it is not the disk: the others must not suffer.
void Committer::commit_one_by_one(Batch& batch) {
  for (Waiting& waiting : batch) {
    try {
      transact(&waiting, 1);
    } catch (const SQLite::Exception& exception) {
      waiting.write->refuse(error_of(exception, "committing"));
    }
  }
}

void Committer::transact(Waiting* first, std::size_t count) {
  Connection& connection = state_.connection();
  try {
    connection.begin();
    for (std::size_t i = 0; i < count; ++i) {
      if (!first[i].refused) first[i].write->apply(state_);
    }
    state_.write_totals();
    connection.commit();
  } catch (const SQLite::Exception&) {
    connection.rollback();
    state_.forget();
    for (std::size_t i = 0; i < count; ++i) {
      if (!first[i].refused) first[i].write->undo();
    }
    throw;
  }
}

}  // namespace baton::store::sqlite
