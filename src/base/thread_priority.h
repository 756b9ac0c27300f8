// ThreadPriority: what the kernel is told of a thread, for when more threads want to run than there are CPUs.
//
// Threads: set_priority is for the calling thread. What the kernel does not take is left out.
#pragma once

namespace baton::base {

enum class ThreadPriority {
  // Runs briefly and often, and callers wait for it: it goes before others, and gives way sooner. It takes no
  // more of the machine than `normal`. Before Linux 6.12 the same as `normal`.
  prompt,
  normal,
  low,  // comes after all others
};

void set_priority(ThreadPriority priority);

}  // namespace baton::base
