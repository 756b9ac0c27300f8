// Bus: by which nodes tell each other what they have changed: NOTIFY on the schema's channel. One is out at a
// time; what comes meanwhile goes together with the next one, and of a task's numbers the newest.
//
// A bus hears its own words, too. If they do not come, something before the database keeps notifications
// back, and those of others as well.
//
// Threads: one that listens and one that tells; every method from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/threads.h"
#include "base/unique_fd.h"
#include "store/peers.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// Has the other nodes look at who there is.
void call_others(Link& link, std::int64_t node);

class Bus {
 public:
  // All are called on the bus's threads.
  struct Events {
    // As Lease::Events::check.
    std::function<void(Link&)> check;
    std::function<void(std::vector<Grown>)> on_heard;
    // Another node follows these tasks.
    std::function<void(std::vector<Grown>)> on_followed;
    // Nobody has listened for a while.
    std::function<void()> on_missed;
    // Another node has called, as `call_others` does.
    std::function<void()> on_call;
    // Another node asks what is followed here.
    std::function<void()> on_newcomer;
    // Another node asks who follows this task, or says that somebody does there.
    std::function<void(task::TaskKey)> on_asked, on_answered;
  };

  // Listens once it is made. Throws sql::Failure.
  Bus(const Address& address, std::int64_t node, Events events);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // False: what this one has said has not come for a while.
  bool hears() const;
  void tell(const std::vector<Grown>& tasks);
  void follow(const std::vector<Grown>& tasks);
  // Asks the others what they follow.
  void ask_all() { say({" *"}); }
  // Asks who follows the task; says that somebody does here.
  void ask(task::TaskKey task) { say({" ?" + std::to_string(task.value)}); }
  void answer(task::TaskKey task) { say({" !" + std::to_string(task.value)}); }

 private:
  std::unique_ptr<Link> listening() const;
  void listen();
  void hear(Link& link);
  bool await_word(const Link& link) const;
  void tell_all();
  void say(std::vector<std::string> words);
  void send(const std::vector<std::string>& payloads);

  const Address& address_;
  const std::int64_t node_;
  const Events events_;
  const base::UniqueFd stop_;

  std::unique_ptr<Link> listener_, teller_;  // each of one thread
  // When it said the first word that has not come; the epoch: all have.
  std::atomic<base::SteadyTime::time_point> unheard_since_{};

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::unordered_map<task::TaskKey, task::EventNumber> untold_;
  std::vector<std::string> words_;  // likewise
  std::jthread listening_, telling_;
};

}  // namespace baton::store::postgres
