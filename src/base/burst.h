// Burst: defers wake-ups until the current batch of work is done.
//
// A thread that submits many pieces of work within microseconds would wake the receiving threads for each
// piece. While a Burst exists, its thread's wake-ups are collected; when it ends, each receiver is woken
// once. Bursts nest; only the outermost wakes. A thread inside a Burst must not wait for work that it
// submitted.
#pragma once

#include <memory>
#include <vector>

namespace baton::base {

// A thread or pool that sleeps until there is work. Threads: `wake` from any; it may be called when no thread
// sleeps.
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

  // Wakes `sleeper` now, or at the end of this thread's burst. The burst shares ownership of `sleeper`,
  // because its owner may be destroyed before the burst ends.
  static void wake(const std::shared_ptr<Wakeup>& sleeper);

 private:
  static thread_local int depth_;
  static thread_local std::vector<std::shared_ptr<Wakeup>> to_wake_;
};

}  // namespace baton::base
