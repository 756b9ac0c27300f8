// What every TaskStore promises when many write at once.
#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "contract/store_bench.h"

namespace store_concurrency_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;

namespace {

std::string numbered(std::string name, int number) {
  return name.append(std::to_string(number));
}

}  // namespace

TEST_CASE("TaskStore: numbers are consecutive under commits from many threads") {
  StoreBench bench;
  std::vector<task::TaskHead> heads;
  for (int i = 0; i < 4; ++i) heads.push_back(bench.create(numbered("t", i)));
  constexpr int kThreads = 8, kEach = 100;
  std::latch all_stored(kThreads * kEach);
  std::atomic<int> failed{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        auto events = std::vector<task::EventBody>{delta(numbered("r", t), std::to_string(i) + ";")};
        bench.store->commit(
            StoreBench::change(heads[static_cast<std::size_t>(i) % heads.size()], std::move(events)),
            [&](auto result) {
              if (!result) ++failed;
              all_stored.count_down();
            });
        if (i % 10 == 0) CHECK(bench.store->read(heads[0].key, {}).has_value());
      }
    });
  }
  threads.clear();
  all_stored.wait();
  CHECK(failed == 0);
  for (const task::TaskHead& head : heads) {
    const std::vector<task::Event> log = bench.log(head);
    CHECK(consecutive(log));
    CHECK(log.size() == 2 + kThreads * kEach / heads.size());
    CHECK(bench.store->head(head.key)->last_event.value == static_cast<std::int64_t>(log.size()));
    CHECK(bench.read(head).artifacts.size() == kThreads);
  }
  // What one thread handed over stayed in its order.
  std::string expected;
  for (int i = 0; i < kEach; i += 4) expected += std::to_string(i) + ";";
  for (const task::Artifact& reply : bench.read(heads[0]).artifacts) CHECK(texts(reply) == Texts{expected});
}

TEST_CASE("TaskStore: callbacks come in the order of the commits, on one thread") {
  StoreBench bench;
  const task::TaskHead head = bench.create("t1");
  constexpr int kCount = 500;
  std::vector<int> order;  // the flushing thread only, until the latch opens
  std::set<std::thread::id> threads;
  std::latch done(kCount);
  for (int i = 0; i < kCount; ++i) {
    task::Change change = StoreBench::change(head, {delta("r", "x")});
    if (i % 7 == 0) change.expected = task::Version{99};  // refused
    bench.store->commit(std::move(change), [&, i](auto) {
      order.push_back(i);
      threads.insert(std::this_thread::get_id());
      done.count_down();
    });
  }
  done.wait();
  REQUIRE(order.size() == kCount);
  for (int i = 0; i < kCount; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  CHECK(threads.size() == 1);
  CHECK_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_CASE(
    "TaskStore: whoever asks while a change is under way is called after its callback, refused or not") {
  StoreBench bench;
  const task::TaskHead head = bench.create("t1");
  for (const bool refused : {false, true}) {
    CAPTURE(refused);
    task::Change change = StoreBench::change(head, {delta("r", "x")});
    if (refused) change.expected = task::Version{99};
    std::promise<std::string> called;
    std::string order;  // the flushing thread only
    std::function<void()> then = [&] { called.set_value(order + "then"); };
    bench.store->commit(std::move(change), [&](auto result) {
      CHECK(result.has_value() != refused);
      CHECK(bench.store->after_change(head.key, then));
      order = "told ";
    });
    CHECK(await(called.get_future()) == "told then");
    std::function<void()> never = [] { FAIL("nothing is under way"); };
    // The change is over once what is handed over after it is.
    bench.must(StoreBench::creation(refused ? "t3" : "t2", {user("m")}));
    CHECK_FALSE(bench.store->after_change(head.key, never));
  }
}

TEST_CASE("TaskStore: a refused change does not disturb the others in its transaction") {
  StoreBench bench;
  const task::TaskHead head = bench.create("t1");
  const task::TaskHead other = bench.create("t2");
  constexpr int kRounds = 200;
  std::latch done(kRounds * 4);
  std::map<ErrorCode, int> refused;  // the flushing thread only, until the latch opens
  int stored = 0;
  const auto count = [&](base::Result<store::Committed> result) {
    if (result) {
      ++stored;
    } else {
      ++refused[result.error().code];
    }
    done.count_down();
  };
  for (int i = 0; i < kRounds; ++i) {
    bench.store->commit(StoreBench::change(head, {delta("r", "a")}), count);
    bench.store->commit(StoreBench::change(head, {delta(numbered("new", i), "b"), status(State::submitted)}),
                        count);
    bench.store->commit(StoreBench::creation("t1", {user("m")}, numbered("context ", i)), count);
    bench.store->commit(StoreBench::change(other, {delta("r", "c")}), count);
  }
  done.wait();
  CHECK(stored == 2 * kRounds);
  CHECK(refused[ErrorCode::invalid_argument] == kRounds);
  CHECK(refused[ErrorCode::already_exists] == kRounds);
  CHECK(consecutive(bench.log(head)));
  CHECK(bench.log(head).size() == 2 + kRounds);
  const task::Task task = bench.read(head);
  REQUIRE(task.artifacts.size() == 1);
  CHECK(task.artifacts[0].parts.at(0).content == std::string(kRounds, 'a'));
  CHECK(bench.log(other).size() == 2 + kRounds);
}

TEST_CASE("TaskStore: of two that decide on the same version one wins") {
  StoreBench bench;
  constexpr int kTasks = 50;
  std::atomic<int> won{0}, lost{0};
  std::latch done(kTasks * 2);
  std::vector<task::TaskHead> heads;
  for (int i = 0; i < kTasks; ++i) heads.push_back(bench.create(numbered("t", i)));
  const auto decide = [&](State state) {
    for (const task::TaskHead& head : heads) {
      task::Change change = StoreBench::change(head, {status(state)});
      change.expected = head.version;
      bench.store->commit(std::move(change), [&](auto result) {
        if (result) ++won;
        if (!result && result.error().code == ErrorCode::conflict) ++lost;
        done.count_down();
      });
    }
  };
  {
    const std::jthread canceling([&] { decide(State::canceled); });
    const std::jthread completing([&] { decide(State::completed); });
  }
  done.wait();
  CHECK(won == kTasks);
  CHECK(lost == kTasks);
  for (const task::TaskHead& head : heads) CHECK(bench.log(head).size() == 3);
}

TEST_CASE("TaskStore: a reader never sees a task apart from its log") {
  StoreBench bench;
  const task::TaskHead head = bench.create("t1");
  std::atomic<bool> finished{false};
  std::atomic<int> wrong{0}, reads{0};
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i) {
      readers.emplace_back([&] {
        while (!finished || reads < 10) {
          const auto task = bench.store->read(head.key, {});
          const std::size_t shown =
              task->artifacts.empty() ? 0 : task->artifacts[0].parts.at(0).content.size();
          if (shown != static_cast<std::size_t>(task->last_event.value - 2)) ++wrong;
          ++reads;
        }
      });
    }
    for (int i = 0; i < 300; ++i) bench.must(head, {delta("r", "x"), delta("r", "y")});
    finished = true;
  }
  CHECK(wrong == 0);
}

}  // namespace store_concurrency_test
