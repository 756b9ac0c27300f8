#include "agents/sink_gate.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <new>
#include <thread>

#include "support/recording_sink.h"

namespace sink_gate_test {

using namespace baton;

TEST_CASE("SinkGate: close waits for the running call and refuses later ones") {
  auto sink = std::make_shared<test::RecordingSink>();
  agents::SinkGate gate(sink);
  std::atomic<bool> inside{false}, leave{false}, closed{false};
  std::thread caller([&] {
    gate.use([&](agents::TurnSink&) {
      inside = true;
      while (!leave) std::this_thread::yield();
      CHECK_FALSE(closed);
    });
  });
  while (!inside) std::this_thread::yield();
  std::thread closer([&] {
    gate.close();
    closed = true;
  });
  while (!gate.closed()) std::this_thread::yield();
  CHECK_FALSE(closed);
  leave = true;
  closer.join();
  caller.join();
  CHECK_FALSE(gate.use([](agents::TurnSink& one) { one.text("late"); }));
  CHECK(sink->text_calls() == 0);
  CHECK(sink.use_count() == 1);
}

TEST_CASE("SinkGate: a call may close its own gate") {
  auto sink = std::make_shared<test::RecordingSink>();
  agents::SinkGate gate(sink);
  CHECK(gate.use([&](agents::TurnSink& one) {
    gate.close();
    one.text("still here");
  }));
  CHECK(sink->all_text() == "still here");
  CHECK(sink.use_count() == 1);
  CHECK_FALSE(gate.use([](agents::TurnSink&) {}));
}

TEST_CASE("SinkGate: a call that throws leaves the gate") {
  auto sink = std::make_shared<test::RecordingSink>();
  agents::SinkGate gate(sink);
  CHECK_THROWS_AS(gate.use([](agents::TurnSink&) { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(gate.use([](agents::TurnSink& one) { one.text("next"); }));
  std::thread([&] { gate.close(); }).join();
  CHECK(sink->all_text() == "next");
  CHECK(sink.use_count() == 1);
}

}  // namespace sink_gate_test
