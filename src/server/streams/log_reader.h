// LogReader: a cursor that follows a growing task log. Every event stream reads through one. It reads the
// live log, or the store for events that the live log does not have. It has no queue.
//
// Threads: one at a time (for a stream, the server's loop). Reads of the store run on the readers pool.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "http/http_server.h"
#include "server/shared/services.h"

namespace baton::server {

class LogReader {
 public:
  enum class Found {
    events,   // at least one was handed over
    nothing,  // end of the log; the waker will be called when it grows
    later,    // the store is being read; the waker will be called
    failed,   // the log cannot be read now; the client may reconnect with its last number
  };
  class Taker {
   public:
    // Takes the event. Returns false to get no more events in this read.
    virtual bool accept(const task::Event& event) = 0;

   protected:
    ~Taker() = default;
  };

  // `page`: the first events after `after`, if they have been read already.
  LogReader(const Services& services, task::TaskKey task, task::EventNumber after, http::Waker waker,
            std::vector<task::Event> page = {});
  ~LogReader();

  task::TaskKey task() const { return task_; }
  // Approximate bytes read from the store and not yet handed over.
  std::size_t held() const;
  // Hands over the events after the last one handed over. `expects_none`: the task has ended, so the log must
  // be read even without a notification.
  Found read(Taker& taker, bool expects_none);

 private:
  struct Shared;  // shared with the live task's callback and a read in progress

  bool hand_over_page(Taker& taker);
  bool hand_over(const task::Event& event, Taker& taker);
  bool fetch();

  const Services& services_;
  const task::TaskKey task_;
  task::EventNumber position_;
  std::vector<task::Event> page_;  // from the store; handed over up to page_next_
  std::size_t page_next_ = 0;
  std::size_t page_bytes_ = 0;  // of the remaining events of page_
  std::shared_ptr<Shared> shared_;
  engine::LiveTasks::Subscription subscription_;
};

}  // namespace baton::server
