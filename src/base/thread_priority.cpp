#include "base/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace baton::base {
namespace {

constexpr int kLow = 10;
// The kernel's default slice is 1.4 ms or more. Slices much shorter than this one cost more context switches
// than they save time.
constexpr std::chrono::nanoseconds kPromptSlice = std::chrono::microseconds(300);

constexpr std::uint64_t kResetOnFork = 1;  // the kernel's SCHED_FLAG_RESET_ON_FORK

// The first version of the kernel's struct sched_attr. The kernel's header cannot be included with <sched.h>.
struct Attributes {
  std::uint32_t size = 0;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // the slice
  std::uint64_t deadline = 0, period = 0;
};
static_assert(sizeof(Attributes) == 48);

// Does nothing if the operator runs the program under another scheduling policy.
void take_short_slices() {
  Attributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.size = sizeof attributes;
  attributes.runtime = kPromptSlice.count();
  // Keeps threads and processes that this thread starts from being prompt. A negative nice value is left as
  // it is: the flag would reset it for them.
  if (attributes.nice >= 0) attributes.flags |= kResetOnFork;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

void set_priority(ThreadPriority priority) {
  if (priority == ThreadPriority::low) setpriority(PRIO_PROCESS, 0, kLow);  // on Linux only this thread's
  if (priority == ThreadPriority::prompt) take_short_slices();
}

}  // namespace baton::base
