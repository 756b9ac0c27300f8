// FairPool: a WorkerPool whose threads are shared fairly among the owners of the queued work. Owners take
// turns, and one owner never occupies more than half of the threads, nor of the queue. So while one owner is
// busy, the work of a second one starts at once, and is taken however much the first one submits.
//
// Threads: `try_submit` from any thread. Functions may block. The rest is as in WorkerPool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/exception_report.h"
#include "base/guarded.h"
#include "base/worker_pool.h"

namespace baton::base {

class FairPool {
 public:
  FairPool(std::string name, int threads, std::size_t queue_max,
           ThreadPriority priority = ThreadPriority::normal)
      : name_(name),
        share_(std::max(threads / 2, 1)),
        threads_(static_cast<std::size_t>(std::max(threads, 1))),
        queue_max_(queue_max),
        pool_(std::move(name), threads, threads_, priority) {}

  // Returns false and leaves `work` with the caller if the pool or the owner's half of the queue is full, or
  // the pool is stopping.
  [[nodiscard]] bool try_submit(const std::string& owner, std::function<void()>&& work) {
    return state_.with([&](State& state) {
      const auto known = state.lanes.find(owner);
      const std::size_t waiting = known == state.lanes.end() ? 0 : known->second.queue.size();
      if (state.waiting >= queue_max_ || waiting >= std::max<std::size_t>(queue_max_ / 2, 1)) return false;
      // A request that no thread has taken yet serves for this work, too: otherwise a pool that is never idle
      // would collect requests. A thread that takes one waits for the lock, and then finds the work.
      if (state.requests < threads_) {
        if (!pool_.try_submit([this] { work_on(); })) return false;
        ++state.requests;
      }
      Lane& lane = state.lanes[owner];
      if (waiting == 0) state.rotation.push_back(owner);
      lane.queue.push_back(std::move(work));
      ++state.waiting;
      return true;
    });
  }

  void stop() { pool_.stop(); }

 private:
  struct Lane {
    std::deque<std::function<void()>> queue;
    int running = 0;
  };
  struct State {
    std::unordered_map<std::string, Lane> lanes;
    std::deque<std::string> rotation;  // owners with something queued, the next one first
    std::size_t waiting = 0;           // functions, of all owners
    std::size_t requests = 0;          // for threads, that none has taken
  };
  struct Next {
    std::string owner;
    std::function<void()> work;
  };

  // Runs queued work until none is left that may run now. Work whose owner is at its limit is taken later, by
  // a thread that finishes a function of the same owner.
  void work_on() {
    state_.with([](State& state) { --state.requests; });
    for (Next next = take(); next.work; next = take()) {
      try {
        next.work();
      } catch (const std::exception& error) {
        report_exception(name_.c_str(), error.what());
      } catch (...) {
        report_exception(name_.c_str(), "an exception of unknown type");
      }
      next.work = nullptr;
      state_.with([&](State& state) {
        const auto lane = state.lanes.find(next.owner);
        --lane->second.running;
        if (lane->second.queue.empty() && lane->second.running == 0) state.lanes.erase(lane);
      });
    }
  }

  Next take() {
    return state_.with([&](State& state) {
      for (auto owner = state.rotation.begin(); owner != state.rotation.end(); ++owner) {
        Lane& lane = state.lanes[*owner];
        if (lane.running >= share_) continue;
        Next next{*owner, std::move(lane.queue.front())};
        lane.queue.pop_front();
        --state.waiting;
        ++lane.running;
        state.rotation.erase(owner);
        if (!lane.queue.empty()) state.rotation.push_back(next.owner);
        return next;
      }
      return Next();
    });
  }

  const std::string name_;
  const int share_;
  const std::size_t threads_;
  const std::size_t queue_max_;
  Guarded<State> state_;
  WorkerPool pool_;  // last: its threads use the rest
};

}  // namespace baton::base
