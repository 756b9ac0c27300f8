#include "base/event_loop.h"

#include <doctest/doctest.h>
#include <sys/epoll.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace event_loop_test {

using baton::base::EventLoop;
using baton::base::UniqueFd;
using namespace std::chrono_literals;

TEST_CASE("EventLoop: posted functions run in order on the loop's thread") {
  EventLoop loop("test");
  loop.start();
  std::vector<int> order;
  std::promise<bool> on_thread;
  for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.post([&] { on_thread.set_value(loop.on_loop_thread()); });
  CHECK(on_thread.get_future().get());
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("EventLoop: timers fire in the order of their times and a cancelled one does not") {
  // Each time counts from its own call: after a pause between the calls the order may be another one.
  bool without_pause = false;
  for (int tries = 0; tries < 1000 && !without_pause; ++tries) {
    std::vector<int> fired;
    std::promise<void> done;
    EventLoop loop("test");
    const auto began = std::chrono::steady_clock::now();
    loop.after(20ms, [&] { done.set_value(); });
    loop.after(10ms, [&] { fired.push_back(2); });
    loop.after(1ms, [&] { fired.push_back(1); });
    loop.cancel(loop.after(5ms, [&] { fired.push_back(-1); }));
    loop.cancel(12345);
    without_pause = std::chrono::steady_clock::now() - began < 9ms;
    loop.start();
    done.get_future().get();
    loop.stop();
    if (without_pause) CHECK(fired == std::vector<int>{1, 2});
  }
  CHECK(without_pause);
}

TEST_CASE("EventLoop: a watched descriptor calls back until it is forgotten") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  UniqueFd reader(ends[0]), writer(ends[1]);
  EventLoop loop("test");
  std::promise<char> got;
  loop.watch(reader.get(), EPOLLIN, [&](std::uint32_t) {
    char c = 0;
    REQUIRE(read(reader.get(), &c, 1) == 1);
    loop.forget(reader.get());
    got.set_value(c);
  });
  loop.start();
  REQUIRE(write(writer.get(), "xy", 2) == 2);
  CHECK(got.get_future().get() == 'x');
  std::promise<void> quiet;
  loop.post([&] { quiet.set_value(); });
  quiet.get_future().get();
}

TEST_CASE("EventLoop: posts from many threads all run") {
  EventLoop loop("test");
  loop.start();
  int count = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) loop.post([&count] { ++count; });
      });
    }
  }
  std::promise<int> total;
  loop.post([&] { total.set_value(count); });
  CHECK(total.get_future().get() == 4000);
}

TEST_CASE("EventLoop: stop drops what has not run") {
  EventLoop loop("test");
  bool fired = false;
  loop.start();
  loop.after(1h, [&] { fired = true; });
  loop.stop();
  CHECK_FALSE(fired);
}

}  // namespace event_loop_test
