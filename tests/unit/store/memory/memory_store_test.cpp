#include "store/memory/memory_store.h"

#include "contract/store_bench.h"

namespace memory_store_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;

namespace {

task::Change sent(const std::string& id, std::uint64_t digest) {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
  change.send = task::SendDigest{digest, digest};
  return change;
}

}  // namespace

TEST_CASE("MemoryStore: a rolled-back group leaves no trace and can be applied again") {
  MemoryBench bench;
  const task::TaskHead head = bench.create("t1");
  for (int round = 0; round < 2; ++round) {
    bench.rows.clear();
    task::Change change = StoreBench::change(head, {status(State::working), delta("r", "x")});
    change.push.emplace();
    change.push->id = {"p"};
    change.push_configs_max = 1;
    succeed(bench.apply(change));
    task::Change other = sent("t2", 7);
    other.create->context = {"c2"};
    const auto made = bench.apply(other);
    succeed(made);
    CHECK(made->new_context);
    if (round == 0) bench.memory.roll_back();
  }
  bench.memory.roll_back();
  succeed(bench.tasks->commit());
  CHECK(bench.log(head).size() == 2);
  CHECK(bench.configs(head).empty());
  CHECK(bench.tasks->earlier_send({7, 7}).error().code == ErrorCode::not_found);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
}

TEST_CASE("MemoryStore: a power loss loses exactly the changes that were not flushed") {
  MemoryBench bench;
  const task::TaskHead head = bench.create("t1");
  succeed(bench.tasks->flush());
  bench.must(head, {status(State::working)});
  bench.must(sent("t2", 7));
  task::Change open = sent("t3", 8);
  succeed(bench.apply(open));
  bench.memory.lose_unflushed();
  bench.rows.clear();
  CHECK(bench.log(head).size() == 2);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->earlier_send({7, 7}).error().code == ErrorCode::not_found);

  const task::TaskHead again = bench.must(sent("t2", 7)).head;
  bench.must(head, {user("m2")});
  succeed(bench.tasks->flush());
  bench.memory.lose_unflushed();
  CHECK(bench.log(head).size() == 3);
  CHECK(bench.tasks->earlier_send({7, 7})->task == again.key);
}

}  // namespace memory_store_test
