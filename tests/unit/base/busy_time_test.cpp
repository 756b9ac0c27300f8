#include "base/busy_time.h"

#include <doctest/doctest.h>

#include <future>
#include "base/event_loop.h"

namespace busy_time_test {

using namespace std::chrono_literals;
using baton::base::BusyTime;
using Nanoseconds = BusyTime::Nanoseconds;

namespace {

Nanoseconds of(const std::string& thread, Nanoseconds now) {
  const auto all = BusyTime::all(now);
  const auto found = all.find(thread);
  return found == all.end() ? Nanoseconds(-1) : found->second;
}

}  // namespace

TEST_CASE("BusyTime: the longest of two windows is shown, and older ones are forgotten") {
  BusyTime busy("one");
  const Nanoseconds start = 1h;
  busy.note(start, start + 5ms);
  busy.note(start + 1s, start + 1s + 2ms);
  CHECK(of("one", start + 2s) == 5ms);
  busy.note(start + 61s, start + 61s + 1ms);
  CHECK(of("one", start + 62s) == 5ms);
  busy.note(start + 122s, start + 122s + 3ms);
  CHECK(of("one", start + 123s) == 3ms);
  CHECK(of("one", start + 200s) == 3ms);
  CHECK(of("one", start + 300s) == 0ms);
}

TEST_CASE("BusyTime: threads with the same name are shown as one, and ended threads are not shown") {
  BusyTime first("two");
  first.note(1h, 1h + 1ms);
  {
    BusyTime second("two");
    second.note(1h, 1h + 2ms);
    CHECK(of("two", 1h + 1s) == 2ms);
  }
  CHECK(of("two", 1h + 1s) == 1ms);
  CHECK(of("three", 1h) == Nanoseconds(-1));
}

TEST_CASE("BusyTime: a loop records its rounds under its thread's name") {
  baton::base::EventLoop loop("busy-loop");
  loop.start();
  std::promise<void> done;
  // Keeps the loop busy for 20 ms, which a real callback must not do.
  loop.post([&] {
    const auto until = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < until) {
    }
    loop.after(1ms, [&] { done.set_value(); });  // in a later round
  });
  done.get_future().wait();
  CHECK(of("busy-loop", std::chrono::steady_clock::now().time_since_epoch()) >= 20ms);
  loop.stop();
}

}  // namespace busy_time_test
