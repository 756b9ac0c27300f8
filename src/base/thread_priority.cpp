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
// The kernel's own is 1.4 ms and more. Much shorter ones cost more switches than they save time.
constexpr std::chrono::nanoseconds kPromptSlice = std::chrono::microseconds(300);

constexpr std::uint64_t kResetOnFork = 1;  // the kernel's SCHED_FLAG_RESET_ON_FORK

// The first version of the kernel's struct sched_attr, for which Debian 12's headers have no name in C++.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = kResetOnFork;  // threads and processes that it starts are not prompt
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // the slice
  std::uint64_t deadline = 0, period = 0;
};
static_assert(sizeof(Attributes) == 48);

}  // namespace

void set_priority(ThreadPriority priority) {
  if (priority == ThreadPriority::low) setpriority(PRIO_PROCESS, 0, kLow);  // of this thread
  if (priority != ThreadPriority::prompt) return;
  Attributes attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  attributes.runtime = kPromptSlice.count();
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace baton::base
