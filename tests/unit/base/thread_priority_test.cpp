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
      attributes{};  // as the kernel's first struct sched_attr; the fourth is sched_runtime
  syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0);
  return {getpriority(PRIO_PROCESS, 0), attributes[3]};
}

// What a thread sees that takes the priority, and one that it starts.
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
    "ThreadPriority: a prompt thread has short slices where the kernel has them, and no other nice value") {
  const auto normal = seen_with(ThreadPriority::normal), prompt = seen_with(ThreadPriority::prompt);
  CHECK(prompt[0].nice == normal[0].nice);
  if (normal[0].slice > 0) CHECK(prompt[0].slice < normal[0].slice);
}

TEST_CASE("ThreadPriority: a thread that a prompt one starts is not prompt") {
  const auto normal = seen_with(ThreadPriority::normal), prompt = seen_with(ThreadPriority::prompt);
  CHECK(prompt[1].slice == normal[1].slice);
  CHECK(prompt[1].nice == normal[1].nice);
}

TEST_CASE("ThreadPriority: a thread of low priority has a higher nice value") {
  CHECK(seen_with(ThreadPriority::low)[0].nice > seen_with(ThreadPriority::normal)[0].nice);
}

}  // namespace thread_priority_test
