// ThreadPriority: how the kernel schedules a thread when more threads want to run than there are CPUs.
//
// Threads: set_priority applies to the calling thread. Settings that the kernel rejects are ignored.
#pragma once

namespace baton::base {

enum class ThreadPriority {
  // For a thread that runs briefly and often while callers wait for it: it is scheduled before others, and
  // preempted sooner. Its share of the CPU is the same as for `normal`. Before Linux 6.12 the same as
  // `normal`.
  prompt,
  normal,
  low,  // scheduled after all others
};

void set_priority(ThreadPriority priority);

}  // namespace baton::base
