// Bus: notifies other nodes of changes by NOTIFY on the schema's channel. Only one notification is sent at a
// time. Words that are added meanwhile are sent together with the next one, and only the newest event number
// of a task.
//
// A bus also receives its own notifications. If they do not arrive, a proxy in front of the database holds
// back notifications, including those of other nodes.
//
// Threads: has one that listens and one that sends. Every method may be called from any thread.
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
#include "store/postgres/nodes/bus_words.h"

namespace baton::store::postgres {

// Makes the other nodes check at once which nodes exist.
void call_others(Link& link, std::int64_t node);

class Bus {
 public:
  // All functions are called on the bus's threads.
  struct Events {
    // See Lease::Events::check.
    std::function<void(Link&)> check;
    std::function<void(std::vector<Grown>)> on_heard;
    // Another node follows these tasks.
    std::function<void(std::vector<Grown>)> on_followed;
    // The bus did not listen for a while, so notifications may be lost.
    std::function<void()> on_missed;
    // Another node has called `call_others`.
    std::function<void()> on_call;
    // Another node asks which tasks this node follows.
    std::function<void()> on_newcomer;
    // Another node asks whether this node follows the task, or answers that it follows it itself.
    std::function<void(task::TaskKey)> on_asked, on_answered;
  };

  // Listens from construction on. Throws sql::Failure.
  Bus(const Address& address, std::int64_t node, Events events);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Returns false if this node's own notifications have not arrived for a while.
  bool hears() const;
  void notify(const std::vector<Grown>& tasks);
  void follow(const std::vector<Grown>& tasks);
  // Asks the other nodes which tasks they follow.
  void ask_all() { say({std::string(kAskAll)}); }
  // Asks the other nodes whether they follow the task, and answers that this node follows it.
  void ask(task::TaskKey task) { say({word_of_question(task)}); }
  void answer(task::TaskKey task) { say({word_of_answer(task)}); }

 private:
  std::unique_ptr<Link> listening() const;
  void listen();
  void hear(Link& link);
  bool await_word(const Link& link) const;
  void send_all();
  void say(std::vector<std::string> words);
  void send(const std::vector<std::string>& payloads);

  const Address& address_;
  const std::int64_t node_;
  const Events events_;
  const base::UniqueFd stop_;

  std::unique_ptr<Link> listener_, sender_;  // each used by one thread only
  // The time of the first own notification that has not arrived; the epoch if all have.
  std::atomic<base::SteadyTime::time_point> unheard_since_{};

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::unordered_map<task::TaskKey, task::EventNumber> unsent_;
  std::vector<std::string> words_;  // not sent yet
  std::jthread listening_, sending_;
};

}  // namespace baton::store::postgres
