#include "base/thread_priority.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

namespace thread_priority_test {

using baton::base::set_priority;
using baton::base::ThreadPriority;

struct Seen {
  int nice = 0;
  std::uint64_t slice = 0;  // ns; 0 before Linux 6.12
};

Seen seen() {
  std::array<std::uint64_t, 6>
      attributes{};  // laid out like the kernel's first struct sched_attr; [3] is sched_runtime
  syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0);
  return {getpriority(PRIO_PROCESS, 0), attributes[3]};
}

// The attributes of a thread with the priority, and those of a thread that it starts.
std::array<Seen, 2> seen_with(ThreadPriority priority) {
  std::array<Seen, 2> both;
  std::thread([&] {
    set_priority(priority);
    both[0] = seen();
    std::thread([&] { both[1] = seen(); }).join();
  }).join();
  return both;
}

TEST_CASE(
    "ThreadPriority: a prompt thread has short slices if the kernel supports them, and the same nice value") {
  const auto normal = seen_with(ThreadPriority::normal), prompt = seen_with(ThreadPriority::prompt);
  CHECK(prompt[0].nice == normal[0].nice);
  if (normal[0].slice > 0) CHECK(prompt[0].slice < normal[0].slice);
}

TEST_CASE("ThreadPriority: a thread started by a prompt thread is not prompt") {
  const auto normal = seen_with(ThreadPriority::normal), prompt = seen_with(ThreadPriority::prompt);
  CHECK(prompt[1].slice == normal[1].slice);
  CHECK(prompt[1].nice == normal[1].nice);
}

TEST_CASE("ThreadPriority: a thread of low priority has a higher nice value") {
  CHECK(seen_with(ThreadPriority::low)[0].nice > seen_with(ThreadPriority::normal)[0].nice);
}

}  // namespace thread_priority_test
