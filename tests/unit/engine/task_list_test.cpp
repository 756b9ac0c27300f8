#include "engine/read/task_list.h"

#include <doctest/doctest.h>

#include "support/engine_bench.h"

namespace engine_task_list_test {

using namespace baton;
using test::EngineBench;

namespace {

task::ListFilter everything(int limit) {
  return {task::kAnonymous, {"scripted"}, {}, {}, {}, {}, limit};
}

// The pages of a list, newest first, each as the ids of its tasks.
std::vector<std::vector<std::string>> pages(EngineBench& bench, int limit, const task::Depth& depth) {
  std::vector<std::vector<std::string>> all;
  task::ListFilter filter = everything(limit);
  do {
    const auto list = engine::list_tasks(bench.engine().reader(), filter, depth);
    REQUIRE(list);
    all.emplace_back();
    for (const task::Task& task : list->tasks) all.back().push_back(task.id.value);
    filter.after = list->next;
  } while (filter.after && all.size() < 100);
  return all;
}

void complete_tasks(EngineBench& bench, int count, const std::string& reply) {
  for (int i = 0; i < count; ++i) {
    const auto accepted = bench.submit(EngineBench::message("x", "t" + std::to_string(i)));
    REQUIRE(accepted);
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    turn->sink->text(reply);
    turn->sink->finish(agents::Done{});
    REQUIRE(bench.wait(accepted->key));
  }
}

}  // namespace

TEST_CASE("list_tasks: pages have the requested size, and the last one has no token") {
  EngineBench bench;
  complete_tasks(bench, 4, "reply");
  std::vector<std::size_t> sizes;
  std::vector<std::string> ids;
  for (const auto& page : pages(bench, 2, {})) {
    sizes.push_back(page.size());
    ids.insert(ids.end(), page.begin(), page.end());
  }
  CHECK(sizes == std::vector<std::size_t>{2, 2});
  std::sort(ids.begin(), ids.end());
  CHECK(ids == std::vector<std::string>{"t0", "t1", "t2", "t3"});
  CHECK(pages(bench, 4, {}).size() == 1);
  CHECK(pages(bench, 3, {}).size() == 2);
  CHECK(engine::list_tasks(bench.engine().reader(), everything(1), {})->total == 4);
}

TEST_CASE("list_tasks: each task is read to the requested depth") {
  EngineBench bench;
  complete_tasks(bench, 1, "reply");
  const auto bare = engine::list_tasks(bench.engine().reader(), everything(1), {0, false});
  REQUIRE(bare);
  CHECK(bare->tasks[0].artifacts.empty());
  CHECK(bare->tasks[0].history.empty());
  const auto whole = engine::list_tasks(bench.engine().reader(), everything(1), {5, true});
  REQUIRE(whole);
  CHECK(whole->tasks[0].artifacts.size() == 1);
  CHECK(whole->tasks[0].history.size() == 1);
}

TEST_CASE("list_tasks: a page stops at 16 MiB, and the next one continues after it") {
  EngineBench::Options options;
  options.engine.turn_bytes_max = 32 << 20;
  EngineBench bench(options);
  complete_tasks(bench, 3, std::string(9 << 20, 'x'));
  const auto large = pages(bench, 10, {});
  REQUIRE(large.size() == 2);
  CHECK(large[0].size() == 2);
  CHECK(large[1].size() == 1);
  CHECK(pages(bench, 10, {0, false}).size() == 1);
}

TEST_CASE("list_tasks: another caller's list is empty") {
  EngineBench bench;
  complete_tasks(bench, 1, "reply");
  task::ListFilter filter = everything(10);
  filter.caller = {"mallory"};
  const auto list = engine::list_tasks(bench.engine().reader(), filter, {});
  REQUIRE(list);
  CHECK(list->tasks.empty());
  CHECK(list->total == 0);
  CHECK_FALSE(list->next);
}

}  // namespace engine_task_list_test
