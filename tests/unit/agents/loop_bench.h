// LoopBench: an executor whose turns are on an event loop, with a server that does what a test wants; and
// what all such executors promise (agents/loop_turn.h).
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "outbound/rules.h"
#include "support/agent_bench.h"
#include "support/held_sink.h"
#include "support/patience.h"
#include "support/recording_sink.h"
#include "unit/outbound/raw_server.h"

namespace baton::test {

struct LoopBench {
  using Make = std::unique_ptr<agents::Executor> (*)(LoopBench&);

  LoopBench(RawServer::Answer answer, Make how) : server(std::move(answer)), make(how) {
    settings.endpoint.url = server.url();
    settings.turn_timeout = std::chrono::duration_cast<decltype(settings.turn_timeout)>(patience());
    rules.policy.allow_private = true;
    loop.start();
  }

  // Made by the settings and rules of its first use.
  agents::Executor& executor() {
    if (!made) made = make(*this);
    return *made;
  }
  RunningTest start(agents::Turn turn = AgentBench::turn_of("hi")) {
    RunningTest running;
    running.turn = executor().start(std::move(turn), running.sink);
    return running;
  }

  RawServer server;
  agents::AgentSettings settings;
  outbound::Rules rules;
  base::EventLoop loop{"turns"};
  base::WorkerPool pool{"turn-work", 2, 100};
  base::WorkerPool other_pool{"turn-other", 2, 100};
  const Make make;
  std::unique_ptr<agents::Executor> made;
};

inline bool wait_for(const std::atomic<bool>& flag) {
  return eventually([&] { return flag.load(); });
}

// Whether the loop runs what is posted.
inline bool is_free(base::EventLoop& loop) {
  const auto flag = std::make_shared<std::atomic<bool>>(false);
  loop.post([flag] { *flag = true; });
  return wait_for(*flag);
}

inline std::string replies(const RecordingSink& sink) {
  std::string all;
  for (const agents::SaidReply& reply : sink.replies()) all += reply.text;
  return all;
}

// Turns that are canceled and dropped in any state report at most one outcome, and the others end. Returns
// further ones, which have just begun.
inline std::vector<RunningTest> check_drops(LoopBench& bench, int count) {
  std::vector<RunningTest> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(bench.start());
    if (i % 3 == 0) all.back().turn->cancel();
    if (i % 2 == 0) all.back().turn.reset();
    if (i % 50 == 7) REQUIRE(all.back().sink->wait_finished());
  }
  for (const RunningTest& running : all) {
    if (running.turn) REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->outcomes().size() <= 1);
  }
  all.clear();
  for (int i = 0; i < 20; ++i) all.push_back(bench.start());
  return all;
}

// While a long piece of the answer is told, the loop is free and a cancel waits. In the end the replies are
// `told`.
inline void check_long_telling(LoopBench& bench, const std::string& told) {
  const auto sink = std::make_shared<HeldSink>();
  const auto turn = bench.executor().start(AgentBench::turn_of("hi"), sink);
  REQUIRE(sink->wait_held());
  CHECK(is_free(bench.loop));
  turn->cancel();
  CHECK(is_free(bench.loop));
  CHECK(sink->seen.wait_until([](const RecordingSink& seen) { return !seen.finished(); }));
  sink->let_go();
  REQUIRE(sink->seen.wait_finished());
  CHECK(sink->seen.ending() == "canceled");
  CHECK(replies(sink->seen) == told);
}

// Answers with `begin`, many times `piece`, and `end`. Each piece says 1,000 bytes.
inline RawServer::Answer long_answer(std::string begin, std::string piece, std::string end) {
  return
      [begin = std::move(begin), piece = std::move(piece), end = std::move(end)](RawServer&, int connection) {
        RawServer::say(connection, begin);
        for (int sent = 0; sent < 3'000 && RawServer::say(connection, piece); ++sent) {
        }
        RawServer::say(connection, end);
      };
}

// While the sink has no room, little of a long_answer is told; and then all of it.
inline void check_backpressure(LoopBench& bench) {
  const auto size_of = [](const RecordingSink& sink) {
    return sink.all_text().size() + replies(sink).size();
  };
  const auto sink = std::make_shared<RecordingSink>();
  sink->fill();
  const auto turn = bench.executor().start(AgentBench::turn_of("hi"), sink);
  std::size_t shown = 0;
  REQUIRE(sink->wait_until([&](const RecordingSink& now) {
    shown = size_of(now);
    return now.refused_room();
  }));
  CHECK(shown < 100'000);
  sink->make_room();
  REQUIRE(sink->wait_finished());
  CHECK(size_of(*sink) == 3'000 * 1'000);
}

}  // namespace baton::test
