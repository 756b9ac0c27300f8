// LogReader: a position in a task's log, moved on as the log grows. It is what every stream of events reads
// from: the feed's memory, or the store where the memory has a gap. It holds no queue.
//
// Threads: one at a time (a stream's: the server's loop). Reads of the store run on the readers pool.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server {

class LogReader {
 public:
  enum class Found {
    events,   // some were handed over
    nothing,  // the log goes no further; the waker will be called when it does
    later,    // they are being fetched; the waker will be called
    failed,   // the log cannot be read now: the reader comes back with the last number it has
  };
  class Taker {
   public:
    // False: enough for now. The event is taken all the same.
    virtual bool take(const task::Event& event) = 0;

   protected:
    ~Taker() = default;
  };

  // `page`: what comes first after `after`, where somebody has read it already.
  LogReader(const Services& services, task::TaskKey task, task::EventNumber after, http::Waker waker,
            std::vector<task::Event> page = {});
  ~LogReader();

  task::TaskKey task() const { return task_; }
  // About what has been read from the store and not been handed over.
  std::size_t held() const { return page_bytes_; }
  // Hands over what comes after the last event handed over. `expects_none`: the task has ended, so that the
  // log must be looked at without being told of news.
  Found read(Taker& taker, bool expects_none);

 private:
  struct Shared;  // with the feed's callback and a read under way

  bool hand_over_page(Taker& taker);
  bool hand_over(const task::Event& event, Taker& taker);
  bool fetch();

  const Services& services_;
  const task::TaskKey task_;
  task::EventNumber position_;
  std::vector<task::Event> page_;  // from the store; handed over up to page_next_
  std::size_t page_next_ = 0;
  std::size_t page_bytes_ = 0;  // of what is left of it
  std::shared_ptr<Shared> shared_;
  engine::Feed::Subscription subscription_;
};

}  // namespace baton::server
