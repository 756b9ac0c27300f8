// The contract of every TaskStore about groups: when they become visible, what ends them, and that writers
// and readers do not disturb each other.
#include <atomic>
#include <thread>

#include "contract/store_bench.h"

namespace store_group_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;

namespace {

task::ListFilter anns_tasks() {
  task::ListFilter filter;
  filter.caller = {"ann"};
  filter.agent = {"echo"};
  return filter;
}

task::PushConfig config(const std::string& id) {
  task::PushConfig made;
  made.id = {id};
  made.url = "http://example.org/hook";
  return made;
}

base::Result<store::Committed> apply(StoreBench& bench, task::Change change) {
  return bench.apply(change);
}

std::vector<store::Delivery> due(const StoreBench& bench) {
  return bench.deliveries->due_deliveries(bench.clock.now(), 100).value();
}

void check_same(const store::TaskRow& one, const store::TaskRow& other) {
  CHECK(one.head.key == other.head.key);
  CHECK(one.head.version == other.head.version);
  CHECK(one.head.last_event == other.head.last_event);
  CHECK(one.head.bytes == other.head.bytes);
  CHECK(one.head.waiting_messages == other.head.waiting_messages);
  CHECK(one.head.turn_begin == other.head.turn_begin);
  CHECK(one.head.awaited == other.head.awaited);
  CHECK(one.head.waits == other.head.waits);
  CHECK(one.head.child_failed == other.head.child_failed);
  CHECK(one.head.created == other.head.created);
  CHECK(one.artifacts.size() == other.artifacts.size());
  CHECK(one.configs.has_value() == other.configs.has_value());
}

}  // namespace

STORE_TEST_CASE("TaskStore: a group is invisible before its commit, and all of it is visible after") {
  const task::TaskHead head = bench.create("t1");
  task::Change more = StoreBench::change(head, {status(State::working), delta("r", "x")});
  more.send = task::SendDigest{1, 2};
  more.push = config("p");
  more.push_configs_max = 1;
  more.turn.emplace();
  more.turn->state = task::TurnState::running;
  succeed(apply(bench, more));
  const auto made = apply(bench, StoreBench::creation("t2", {status(State::submitted), user("m")}));
  succeed(made);

  CHECK(bench.head(head.key).version == head.version);
  CHECK(bench.log(head).size() == 2);
  CHECK(bench.read(head).artifacts.empty());
  CHECK(bench.configs(head).empty());
  CHECK(due(bench).empty());
  CHECK(bench.tasks->earlier_send({1, 2}).error().code == ErrorCode::not_found);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->row(made->head.key).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->list(anns_tasks())->total == 1);
  CHECK(bench.context(head.context_key).said.size() == 1);
  CHECK(bench.tasks->open_tasks(store::TaskStore::Open::unfinished, {}, 10)->empty());

  succeed(bench.tasks->commit());
  CHECK(bench.log(head).size() == 4);
  CHECK(bench.configs(head).size() == 1);
  CHECK(due(bench).size() == 1);
  CHECK(bench.tasks->earlier_send({1, 2})->task == head.key);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}})->key == made->head.key);
  CHECK(bench.tasks->list(anns_tasks())->total == 2);
  CHECK(bench.context(head.context_key).said.size() == 3);
  CHECK(bench.tasks->open_tasks(store::TaskStore::Open::unfinished, {}, 10)->size() == 1);
  succeed(bench.tasks->flush());
}

STORE_TEST_CASE("TaskStore: a change sees the earlier changes of its group") {
  task::Change first = StoreBench::creation("t1", {status(State::submitted), user("m1")});
  first.send = task::SendDigest{1, 2};
  const auto parent = apply(bench, first);
  succeed(parent);
  CHECK(parent->new_context);
  task::Change again = StoreBench::creation("t2", {user("m1")});
  again.send = task::SendDigest{1, 2};
  CHECK(apply(bench, again).error().code == ErrorCode::already_exists);
  CHECK(apply(bench, StoreBench::creation("t1", {user("m2")})).error().code == ErrorCode::already_exists);
  task::Change child = StoreBench::creation("t3", {status(State::submitted)});
  child.create->parent = parent->head.key;
  const auto made = apply(bench, child);
  succeed(made);
  CHECK_FALSE(made->new_context);
  CHECK(made->head.context_key == parent->head.context_key);
  const auto output = apply(bench, StoreBench::change(parent->head, {delta("r", "x")}));
  succeed(output);
  CHECK(output->head.last_event.value == 3);
  const auto more = apply(bench, StoreBench::change(parent->head, {delta("r", "y")}));
  succeed(more);
  CHECK_FALSE(std::get<task::TextDelta>(more->events[0]->body).first);
  succeed(bench.tasks->commit());
  CHECK(texts(bench.read(parent->head).artifacts.at(0)) == Texts{"xy"});
  CHECK(ids(bench.tasks->open_tasks(store::TaskStore::Open::children, parent->head.key, 9).value()) ==
        Texts{"t3"});
}

STORE_TEST_CASE("TaskStore: a refused change leaves its row unchanged and does not affect its group") {
  const task::TaskHead head = bench.create("t1");
  const task::TaskHead other = bench.create("t2");
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    succeed(apply(bench, StoreBench::change(head, {delta("r", "a")})));
    const store::TaskRow before = bench.rows.at(head.key);
    task::Change illegal =
        StoreBench::change(head, {delta("new" + std::to_string(i), "b"), status(State::submitted)});
    illegal.push = config("p");
    illegal.push_configs_max = 1;
    CHECK(apply(bench, illegal).error().code == ErrorCode::invalid_argument);
    check_same(bench.rows.at(head.key), before);
    const std::string context = "context " + std::to_string(i);
    CHECK(apply(bench, StoreBench::creation("t1", {user("m")}, context)).error().code ==
          ErrorCode::already_exists);
    store::TaskRow fresh;
    task::Change halved = StoreBench::creation("t3", {status(State::completed), user("late")}, context);
    CHECK(bench.tasks->apply(halved, fresh).error().code == ErrorCode::conflict);
    check_same(fresh, {});
    succeed(apply(bench, StoreBench::change(other, {delta("r", "c")})));
    if (i % 7 == 0) succeed(bench.tasks->commit());
  }
  succeed(bench.tasks->commit());
  CHECK(consecutive(bench.log(head)));
  CHECK(bench.log(head).size() == 2 + kRounds);
  const task::Task task = bench.read(head);
  REQUIRE(task.artifacts.size() == 1);
  CHECK(task.artifacts[0].parts.at(0).content == std::string(kRounds, 'a'));
  CHECK(bench.log(other).size() == 2 + kRounds);
  CHECK(bench.tasks->list(anns_tasks())->total == 2);
}

STORE_TEST_CASE(
    "TaskStore: of two changes that decide on the same version the first wins, in one group and in two") {
  for (const bool in_one_group : {true, false}) {
    const task::TaskHead head = bench.create(in_one_group ? "t1" : "t2");
    task::Change cancels = StoreBench::change(head, {status(State::canceled)});
    task::Change completes = StoreBench::change(head, {status(State::completed)});
    cancels.expected = completes.expected = head.version;
    succeed(apply(bench, cancels));
    if (!in_one_group) succeed(bench.tasks->commit());
    CHECK(apply(bench, completes).error().code == ErrorCode::conflict);
    succeed(bench.tasks->commit());
    CHECK(bench.log(head).size() == 3);
    CHECK(bench.head(head.key).state == State::canceled);
  }
}

STORE_TEST_CASE("TaskStore: a row updated by changes equals the row that is read") {
  const task::TaskHead head = bench.create("t1");
  bench.clock.advance(base::Duration(5));
  bench.must(head,
             {status(State::working), delta("r", "x"), chunk("a", "1", false), task::Withdrawn{{{"r"}}}});
  succeed(bench.set_push(head.key, config("p1"), 2));
  succeed(bench.set_push(head.key, config("p2"), 2));
  succeed(bench.drop_push(head.key, "p1"));
  const store::TaskRow kept = bench.rows.at(head.key);
  const auto read = bench.tasks->row(head.key);
  succeed(read);
  CHECK(read->head.last_event == kept.head.last_event);
  CHECK(read->head.version == kept.head.version);
  CHECK(read->head.bytes == kept.head.bytes);
  CHECK(read->head.created == kept.head.created);
  CHECK(read->head.created == bench.clock.now() - base::Duration(5));
  // Changes give the same results with the kept row and with a row that is read again.
  for (const bool is_read : {false, true}) {
    CAPTURE(is_read);
    if (is_read) bench.rows.clear();
    const auto again = bench.must(head, {chunk("a", "2", true), delta("r", "y")});
    CHECK(std::get<task::ArtifactChunk>(again.events[0]->body).append);
    CHECK(std::get<task::TextDelta>(again.events[1]->body).first == !is_read);
    CHECK(again.deliveries == 2);
    CHECK(again.head.artifact_count == 2);
  }
}

STORE_TEST_CASE("TaskStore: the queued messages are those after the turn's message, oldest first") {
  const task::TaskHead head = bench.create("t1");
  using Numbers = std::vector<task::EventNumber>;
  const auto decide = [&](std::vector<task::EventBody> events, std::int64_t message, int waiting) {
    task::Change change = StoreBench::change(head, std::move(events));
    change.turn.emplace();
    change.turn->message = task::EventNumber{message};
    change.turn->waiting_messages = waiting;
    bench.must(std::move(change));
    const Numbers kept = bench.rows.at(head.key).waiting;
    CHECK(kept == bench.tasks->row(head.key)->waiting);
    return kept;
  };
  CHECK(decide({status(State::working)}, 2, 0).empty());
  CHECK(decide({user("m2")}, 2, 1) == Numbers{{4}});
  CHECK(decide({task::MessageAdded{message(task::Role::agent, "a", "mine")}, user("m3")}, 2, 2) ==
        Numbers{{4}, {6}});
  CHECK(decide({status(State::submitted)}, 4, 1) == Numbers{{6}});
  CHECK(decide({user("m4")}, 4, 2) == Numbers{{6}, {8}});
  CHECK(decide({}, 4, 0).empty());
  CHECK(decide({user("m5")}, 9, 0).empty());
  task::EventBody for_child = user("m6");
  std::get<task::MessageAdded>(for_child).for_child = true;
  CHECK(decide({for_child, user("m7")}, 9, 1) == Numbers{{11}});
}

STORE_TEST_CASE("TaskStore: what a turn waits for is stored until it resumes, also for a new task") {
  const task::Waits waits{2, true, bench.clock.now() + base::Duration(5)};
  task::Change made = StoreBench::creation("t1", {user("m")});
  made.turn.emplace();
  made.turn->state = task::TurnState::waiting;
  made.turn->waits = {-1, false, bench.clock.now()};
  const task::TaskHead head = bench.must(std::move(made)).head;
  CHECK(bench.head(head.key).waits == task::Waits{-1, false, bench.clock.now()});
  CHECK(bench.head(head.key).turn_state == task::TurnState::waiting);

  task::Change works =
      StoreBench::change(head, {status(State::working), task::Subagent{"a", "x"}, task::Subagent{"b", "x"},
                                task::Subagent{"c", "x"}, task::Subagent{"d", "x"},
                                task::Subagent{"a", "x", task::Subagent::Phase::failed, {}}});
  works.turn.emplace();
  works.turn->state = task::TurnState::running;
  bench.must(std::move(works));
  CHECK(bench.head(head.key).child_failed);
  CHECK(bench.head(head.key).waits == task::Waits());

  task::Change again = StoreBench::change(head, {});
  again.turn.emplace();
  again.turn->state = task::TurnState::waiting;
  again.turn->waits = waits;
  again.turn->waits.on_failure = false;
  bench.must(std::move(again));
  CHECK(bench.head(head.key).waits == task::Waits{2, false, waits.until});
  CHECK(bench.head(head.key).awaited == 3);
  bench.must(head, {task::Subagent{"b", "x", task::Subagent::Phase::finished, {}}});
  CHECK(bench.head(head.key).turn_state == task::TurnState::queued);
  CHECK(bench.head(head.key).waits == task::Waits());
  CHECK_FALSE(bench.head(head.key).child_failed);
}

STORE_TEST_CASE("TaskStore: a budget is stored when a task is created, and a new one when it is reopened") {
  task::Budget budget;
  budget.tokens = 1;
  budget.children = 2;
  budget.depth = 3;
  budget.rounds = 4;
  budget.until = bench.clock.now();
  task::Change made = StoreBench::creation("t1", {user("m")});
  made.create->budget = std::make_shared<const task::Budget>(budget);
  const task::TaskHead head = bench.must(std::move(made)).head;
  REQUIRE(bench.head(head.key).budget);
  CHECK(*bench.head(head.key).budget == budget);
  bench.must(head, {status(State::working)});
  CHECK(*bench.head(head.key).budget == budget);
  task::Change again = StoreBench::change(head, {});
  again.turn.emplace();
  again.turn->budget = std::make_shared<const task::Budget>();
  bench.must(std::move(again));
  REQUIRE(bench.head(head.key).budget);
  CHECK(bench.head(head.key).budget->empty());
  CHECK_FALSE(bench.head(bench.create("t2").key).budget);
}

STORE_TEST_CASE("DeliveryStore: results are part of their group, each for the first waiting delivery") {
  const task::TaskHead head = bench.create("t1");
  succeed(bench.set_push(head.key, config("p"), 1));
  bench.must(head, {status(State::working), status(State::working), status(State::completed)});
  const store::Delivery first = due(bench).at(0);
  using Kind = store::DeliveryResult::Kind;
  succeed(bench.deliveries->record({first.key, Kind::retry, bench.clock.now(), "no"}));
  succeed(bench.deliveries->record({first.key, Kind::delivered, {}, {}}));
  CHECK(bench.deliveries->record({first.key, Kind::delivered, {}, {}}).error().code == ErrorCode::not_found);
  CHECK(due(bench).at(0).key == first.key);
  CHECK(bench.deliveries->delivery_counts()->waiting == 3);
  succeed(bench.tasks->commit());
  const store::Delivery second = due(bench).at(0);
  CHECK(second.event.value == first.event.value + 1);
  CHECK(bench.deliveries->delivery_counts()->waiting == 2);
  task::Change drops = StoreBench::change(head, {});
  drops.drop_push = task::PushConfigId{"p"};
  succeed(apply(bench, drops));
  // Results for a deleted config are accepted, also in the group that deletes it.
  for (const store::DeliveryKey key : {first.key, second.key, second.key}) {
    succeed(bench.deliveries->record({key, Kind::given_up, {}, "no"}));
  }
  succeed(bench.tasks->commit());
  CHECK(due(bench).empty());
  CHECK(bench.deliveries->delivery_counts()->given_up == 0);
}

STORE_TEST_CASE("TaskStore: a reader never sees a task apart from its log") {
  const task::TaskHead head = bench.create("t1");
  std::atomic<bool> finished{false};
  std::atomic<int> wrong{0}, reads{0};
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i) {
      readers.emplace_back([&] {
        while (!finished || reads < 10) {
          const auto task = bench.tasks->read(head.key, {});
          const std::size_t shown =
              task->artifacts.empty() ? 0 : task->artifacts[0].parts.at(0).content.size();
          if (shown != static_cast<std::size_t>(task->last_event.value - 2)) ++wrong;
          ++reads;
        }
      });
    }
    for (int i = 0; i < 300; ++i) {
      succeed(apply(bench, StoreBench::change(head, {delta("r", "x"), delta("r", "y")})));
      if (i % 3 == 2) succeed(bench.tasks->commit());
    }
    finished = true;
  }
  CHECK(wrong == 0);
}

}  // namespace store_group_test
