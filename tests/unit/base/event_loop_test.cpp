#include "base/event_loop.h"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace event_loop_test {

using baton::base::EventLoop;
using baton::base::UniqueFd;
using namespace std::chrono_literals;

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    reader.reset(ends[0]), writer.reset(ends[1]);
  }
  UniqueFd reader, writer;
};

}  // namespace

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

TEST_CASE("EventLoop: a function posted before a timer is set runs before the timer") {
  EventLoop loop("test");
  loop.start();
  std::promise<void> both_are_there, done;
  std::vector<int> order;
  loop.post([&] { both_are_there.get_future().get(); });
  loop.post([&] { order.push_back(1); });
  loop.after(0ms, [&] {
    order.push_back(2);
    done.set_value();
  });
  both_are_there.set_value();
  done.get_future().get();
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("EventLoop: timers fire in the order of their times and a cancelled one does not") {
  // Each delay counts from its own call, so a pause between the calls may change the order.
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

TEST_CASE("EventLoop: a watched descriptor calls back until it is unwatched") {
  Pipe pipe;
  EventLoop loop("test");
  std::promise<char> got;
  const EventLoop::Ready ready = [&](std::uint32_t) {
    char c = 0;
    REQUIRE(read(pipe.reader.get(), &c, 1) == 1);
    loop.forget(pipe.reader.get(), ready);
    got.set_value(c);
  };
  loop.watch(pipe.reader.get(), EPOLLIN, ready);
  loop.start();
  REQUIRE(write(pipe.writer.get(), "xy", 2) == 2);
  CHECK(got.get_future().get() == 'x');
  std::promise<void> quiet;
  loop.post([&] { quiet.set_value(); });
  quiet.get_future().get();
}

TEST_CASE("EventLoop: a descriptor unwatched by an earlier callback of the round does not call back") {
  std::array<Pipe, 2> pipes;
  std::array<EventLoop::Ready, 2> ready;
  EventLoop loop("test");
  int called = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(write(pipes[i].writer.get(), "x", 1) == 1);
    ready[i] = [&](std::uint32_t) {
      ++called;
      for (std::size_t k = 0; k < 2; ++k) loop.forget(pipes[k].reader.get(), ready[k]);
    };
    loop.watch(pipes[i].reader.get(), EPOLLIN, ready[i]);
  }
  std::promise<void> quiet;
  loop.post([&] { loop.post([&] { quiet.set_value(); }); });
  loop.start();
  quiet.get_future().get();
  CHECK(called == 1);
}

TEST_CASE("EventLoop: each round ends with its callback, which returns when the next round begins") {
  EventLoop loop("test");
  int rounds = 0;
  bool posted = false, in_order = false;
  std::promise<void> third;
  loop.each_round([&] {
    if (++rounds == 1) in_order = posted;
    if (rounds == 3) third.set_value();
    return rounds < 3 ? loop.now() + 1ms : EventLoop::TimePoint::max();
  });
  loop.post([&] { posted = true; });
  loop.start();
  third.get_future().get();
  loop.stop();
  CHECK(in_order);
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

TEST_CASE("EventLoop: stop drops functions that have not run") {
  EventLoop loop("test");
  bool fired = false;
  loop.start();
  loop.after(1h, [&] { fired = true; });
  loop.stop();
  CHECK_FALSE(fired);
}

TEST_CASE("EventLoop: functions posted after stop are dropped") {
  EventLoop loop("test");
  loop.start();
  loop.stop();
  auto held = std::make_shared<int>();
  loop.post([held] {});
  CHECK(held.use_count() == 1);
}

TEST_CASE("EventLoop: what timers own ends with stop, and at once if they are set after it") {
  EventLoop loop("test");
  loop.start();
  const auto held = std::make_shared<int>();
  const EventLoop::TimerId timer = loop.after(1h, [held] {});
  CHECK(held.use_count() == 2);
  loop.stop();
  CHECK(held.use_count() == 1);
  loop.after(1h, [held] {});
  CHECK(held.use_count() == 1);
  loop.cancel(timer);  // of a timer that is gone
}

TEST_CASE("EventLoop: it can run on the caller's thread, also inside another loop, until told to stop") {
  EventLoop outer("outer");
  std::string order;
  outer.post([&] {
    EventLoop inner("inner");
    bool is_over = false;
    inner.after(1ms, [&] {
      CHECK(inner.on_loop_thread());
      CHECK_FALSE(outer.on_loop_thread());
      order += "inner ";
      is_over = true;
    });
    inner.run_here([&] { return is_over; });
    CHECK(outer.on_loop_thread());
    order += "outer";
  });
  outer.run_here([&] { return !order.empty(); });
  CHECK(order == "inner outer");
  CHECK_FALSE(outer.on_loop_thread());
}

}  // namespace event_loop_test
