// Burst: puts off wake-ups until a thread has done what it has at hand.
//
// A thread that hands over many pieces of work within microseconds would wake their takers for each. While a
// Burst lives, those that the thread hands work to wait; its end wakes each once. Bursts nest; the outermost
// counts. For threads that wait for none of what they hand over.
#pragma once

#include <memory>
#include <vector>

namespace baton::base {

// Somebody who sleeps until there is work. Threads: `wake` from any; it may be called when nobody sleeps.
class Wakeup {
 public:
  Wakeup() = default;
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  virtual ~Wakeup() = default;
  virtual void wake() = 0;
};

class Burst {
 public:
  Burst() { ++depth_; }
  ~Burst();
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  // Wakes now, or at the end of this thread's burst. Whoever sleeps may be gone by then: it is kept until
  // that.
  static void wake(const std::shared_ptr<Wakeup>& sleeper);

 private:
  static thread_local int depth_;
  static thread_local std::vector<std::shared_ptr<Wakeup>> to_wake_;
};

}  // namespace baton::base
