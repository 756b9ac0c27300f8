// The contract of every TaskStore about writing: store/task_store.h, sentence by sentence.
#include "contract/store_bench.h"

namespace task_store_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;
using Open = store::TaskStore::Open;

STORE_TEST_CASE("TaskStore: a new task has the data that it was created with") {
  task::Change change = StoreBench::creation("t1", {status(State::submitted), user("m1", "hi")});
  change.create->metadata = {R"({ "a" :1})"};
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  change.turn->message_is_new = true;
  const store::Committed made = bench.must(std::move(change));

  CHECK(made.head.key.value > 0);
  CHECK(made.head.context_key.value > 0);
  CHECK(made.head.version.value == 1);
  CHECK(made.head.last_event.value == 2);
  CHECK(made.head.turn_state == task::TurnState::queued);
  CHECK(made.head.turn_message.value == 2);
  REQUIRE(made.events.size() == 2);
  CHECK(made.events[0]->number.value == 1);
  CHECK(made.events[1]->number.value == 2);
  CHECK(made.events[0]->at == bench.clock.now());
  CHECK(made.deliveries == 0);

  const task::Task task = bench.read(made.head);
  CHECK(task.id.value == "t1");
  CHECK(task.context.value == "c1");
  CHECK(task.metadata.text == R"({ "a" :1})");
  CHECK(task.status.state == State::submitted);
  CHECK(task.status.at == bench.clock.now());
  CHECK(texts(task.history) == Texts{"hi"});
  CHECK(task.last_event.value == 2);
}

STORE_TEST_CASE("TaskStore: the head read by id and by key is the head that was committed") {
  const base::Timestamp created = bench.clock.now();
  task::TaskHead head = bench.create("t1");
  bench.clock.advance(std::chrono::seconds(1));
  task::Change change = StoreBench::change(head, {status(State::working)});
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{3};
  change.turn->state = task::TurnState::running;
  change.turn->attempt = 2;
  change.turn->message = task::EventNumber{2};
  change.turn->waiting_messages = 4;
  change.turn->cancel_requested = true;
  change.turn->ask = "ask-1";
  head = bench.must(std::move(change)).head;

  const auto by_id = bench.tasks->find({{"ann"}, {"echo"}, {"t1"}});
  const auto by_key = bench.tasks->row(head.key);
  REQUIRE(by_id.has_value());
  REQUIRE(by_key.has_value());
  for (const task::TaskHead& read : {head, *by_id, by_key->head}) {
    CHECK(read.key == head.key);
    CHECK(read.id.value == "t1");
    CHECK(read.agent.value == "echo");
    CHECK(read.caller.value == "ann");
    CHECK(read.context_key == head.context_key);
    CHECK(read.context.value == "c1");
    CHECK_FALSE(read.parent);
    CHECK(read.version.value == 2);
    CHECK(read.state == State::working);
    CHECK(read.last_event.value == 3);
    CHECK(read.turn.value == 3);
    CHECK(read.turn_state == task::TurnState::running);
    CHECK(read.attempt == 2);
    CHECK(read.turn_message.value == 2);
    CHECK(read.waiting_messages == 4);
    CHECK(read.cancel_requested);
    CHECK(read.ask == "ask-1");
    CHECK(read.artifact_count == 0);
    CHECK(read.created == created);
  }
}

STORE_TEST_CASE("TaskStore: a task of another caller or agent is not found") {
  bench.create("t1");
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t1"}}).has_value());
  CHECK(bench.tasks->find({{"bob"}, {"echo"}, {"t1"}}).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->find({{"ann"}, {"tools"}, {"t1"}}).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->row({77}).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->read({77}, {}).error().code == ErrorCode::task_not_found);
}

STORE_TEST_CASE("TaskStore: a used id is refused for its caller and agent, and free for others") {
  const task::TaskHead first = bench.create("t1");
  auto again = bench.commit(StoreBench::creation("t1", {user("m2")}, "another context"));
  CHECK(again.error().code == ErrorCode::already_exists);

  task::Change other = StoreBench::creation("t1", {status(State::submitted)});
  other.create->caller = {"bob"};
  const task::TaskHead of_bob = bench.must(std::move(other)).head;
  CHECK(of_bob.key != first.key);
  CHECK(of_bob.context_key != first.context_key);
  CHECK(bench.log(first).size() == 2);
}

STORE_TEST_CASE("TaskStore: two tasks of one context share its key") {
  const task::TaskHead first = bench.create("t1", "c1");
  const task::TaskHead second = bench.create("t2", "c1");
  const task::TaskHead third = bench.create("t3", "c2");
  CHECK(first.context_key == second.context_key);
  CHECK(first.context_key != third.context_key);
  bench.reopen();
  CHECK(bench.create("t4", "c2").context_key == third.context_key);
}

STORE_TEST_CASE("TaskStore: a change must be about exactly one task that exists") {
  const task::TaskHead head = bench.create("t1");
  CHECK(bench.commit({}).error().code == ErrorCode::invalid_argument);
  task::Change both = StoreBench::creation("t2", {});
  both.task = head.key;
  CHECK(bench.commit(std::move(both)).error().code == ErrorCode::invalid_argument);
  task::Change nowhere;
  nowhere.task = {999};
  CHECK(bench.commit(std::move(nowhere)).error().code == ErrorCode::task_not_found);
  task::Change orphan = StoreBench::creation("t3", {});
  orphan.create->parent = {999};
  CHECK(bench.commit(std::move(orphan)).error().code == ErrorCode::task_not_found);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t3"}}).error().code == ErrorCode::task_not_found);
}

STORE_TEST_CASE("TaskStore: a stale version changes nothing") {
  const task::TaskHead head = bench.create("t1");
  task::Change change = StoreBench::change(head, {status(State::working)});
  change.expected = head.version;
  CHECK(bench.must(std::move(change)).head.version.value == head.version.value + 1);

  task::Change stale = StoreBench::change(head, {status(State::completed), user("m2")});
  stale.expected = head.version;
  stale.push.emplace();
  stale.push_configs_max = 1;
  stale.turn.emplace();
  stale.turn->ask = "never";
  CHECK(bench.commit(std::move(stale)).error().code == ErrorCode::conflict);
  CHECK(bench.log(head).size() == 3);
  CHECK(bench.head(head.key).ask.empty());
  CHECK(bench.configs(head).empty());
  CHECK(bench.read(head).status.state == State::working);
}

STORE_TEST_CASE("TaskStore: decisions raise the version, output does not") {
  task::TaskHead head = bench.create("t1");
  const auto version_after = [&](task::Change change) {
    return bench.must(std::move(change)).head.version.value;
  };
  const std::int64_t before = head.version.value;
  CHECK(version_after(StoreBench::change(head, {delta("r1", "x")})) == before);
  CHECK(version_after(StoreBench::change(
            head, {chunk("a1", "x", false), task::ToolCall{"1", "f", {}, false}})) == before);
  CHECK(version_after(StoreBench::change(head, {status(State::working), status(State::working)})) ==
        before + 1);
  CHECK(version_after(StoreBench::change(head, {user("m2")})) == before + 2);
  task::Change turn = StoreBench::change(head, {});
  turn.turn.emplace();
  CHECK(version_after(std::move(turn)) == before + 3);
}

STORE_TEST_CASE("TaskStore: the fence lets only the running attempt of the running turn write") {
  task::TaskHead head = bench.create("t1");
  const auto write_as = [&](std::int64_t turn, int attempt = 1) {
    task::Change change = StoreBench::change(head, {delta("r1", "x")});
    change.fence = task::Change::Fence{{turn}, attempt};
    return bench.commit(std::move(change));
  };
  const auto set_turn = [&](std::int64_t number, task::TurnState state) {
    task::Change change = StoreBench::change(head, {});
    change.turn.emplace();
    change.turn->turn = task::TurnNumber{number};
    change.turn->state = state;
    change.turn->attempt = 1;
    bench.must(std::move(change));
  };
  CHECK(write_as(0).error().code == ErrorCode::conflict);
  set_turn(1, task::TurnState::queued);
  CHECK(write_as(1).error().code == ErrorCode::conflict);
  set_turn(1, task::TurnState::running);
  CHECK(write_as(1).has_value());
  CHECK(write_as(2).error().code == ErrorCode::conflict);
  CHECK(write_as(1, 2).error().code == ErrorCode::conflict);
  set_turn(2, task::TurnState::running);
  CHECK(write_as(1).error().code == ErrorCode::conflict);
  set_turn(2, task::TurnState::none);
  CHECK(write_as(2).error().code == ErrorCode::conflict);
  CHECK(bench.log(head).size() == 3);
}

STORE_TEST_CASE("TaskStore: a change with an illegal state transition is refused as a whole") {
  const task::TaskHead head = bench.create("t1");
  bench.must(head, {status(State::input_required)});
  auto refused = bench.commit(StoreBench::change(head, {user("m2"), status(State::auth_required)}));
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(bench.log(head).size() == 3);
  CHECK(bench.commit(StoreBench::creation("t2", {status(State::submitted), status(State::submitted)}))
            .error()
            .code == ErrorCode::invalid_argument);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
}

STORE_TEST_CASE("TaskStore: a task that has ended accepts no further event") {
  const task::TaskHead head = bench.create("t1");
  auto refused = bench.commit(StoreBench::change(head, {status(State::completed), delta("r1", "late")}));
  CHECK(refused.error().code == ErrorCode::conflict);
  bench.must(head, {status(State::completed)});
  for (const task::EventBody& body :
       std::vector<task::EventBody>{status(State::canceled), status(State::submitted), user("m2"),
                                    delta("r1", "x"), chunk("a", "x", false)}) {
    CHECK(bench.commit(StoreBench::change(head, {body})).error().code == ErrorCode::conflict);
  }
  CHECK(bench.log(head).size() == 3);
  task::Change turn = StoreBench::change(head, {});
  turn.turn.emplace();
  turn.turn->state = task::TurnState::none;
  CHECK(bench.commit(std::move(turn)).has_value());
}

STORE_TEST_CASE("TaskStore: reopening leads from a terminal state to submitted and to no other") {
  const task::TaskHead head = bench.create("t1");
  bench.must(head, {status(State::failed)});
  const auto reopen = [&](std::vector<task::EventBody> events) {
    task::Change change = StoreBench::change(head, std::move(events));
    change.reopen = true;
    return bench.commit(std::move(change));
  };
  CHECK(reopen({status(State::working)}).error().code == ErrorCode::invalid_argument);
  CHECK(reopen({user("m2")}).error().code == ErrorCode::invalid_argument);
  CHECK(reopen({status(State::submitted), status(State::completed), user("m3")}).error().code ==
        ErrorCode::conflict);
  const auto opened = reopen({user("m2", "again"), status(State::submitted)});
  REQUIRE(opened.has_value());
  CHECK(opened->head.last_event.value == 5);
  bench.must(head, {status(State::working), status(State::completed)});
  CHECK(texts(bench.read(head).history) == Texts{"hello", "again"});
}

STORE_TEST_CASE("TaskStore: a turn's input is its message and the data sent with it") {
  task::Change change = StoreBench::creation("t1", {status(State::submitted), user("m1", "first")});
  change.request = task::RequestData{{R"({"k": 1})"}, {"[ ]"}, {"null"}, {"urn:a", "urn:\"b\""}};
  const task::TaskHead head = bench.must(std::move(change)).head;
  bench.must(head, {user("m2", "second")});

  const auto first = bench.tasks->turn_input(head.key, {2});
  REQUIRE(first.has_value());
  CHECK(first->message == message(task::Role::user, "m1", "first"));
  CHECK(first->request.metadata.text == R"({"k": 1})");
  CHECK(first->request.tools.text == "[ ]");
  CHECK(first->request.client_state.text == "null");
  CHECK(first->request.extensions == Texts{"urn:a", "urn:\"b\""});
  const auto second = bench.tasks->turn_input(head.key, {3});
  REQUIRE(second.has_value());
  CHECK(second->message.id.value == "m2");
  CHECK(second->request.metadata.empty());
  CHECK(second->request.extensions.empty());
  CHECK(bench.tasks->turn_input(head.key, {1}).error().code == ErrorCode::not_found);
  CHECK(bench.tasks->turn_input(head.key, {9}).error().code == ErrorCode::not_found);

  task::Change bare = StoreBench::change(head, {});
  bare.request.emplace();
  CHECK(bench.commit(std::move(bare)).error().code == ErrorCode::invalid_argument);
  task::Change no_message = StoreBench::change(head, {});
  no_message.turn.emplace();
  no_message.turn->message_is_new = true;
  CHECK(bench.commit(std::move(no_message)).error().code == ErrorCode::invalid_argument);
}

STORE_TEST_CASE(
    "TaskStore: unfinished tasks are those with a turn: queued, running or waiting, oldest first") {
  std::vector<task::TaskHead> heads;
  for (int i = 0; i < 8; ++i) {
    heads.push_back(bench.create("t" + std::to_string(i)));
    task::Change change = StoreBench::change(heads.back(), {task::Subagent{"c", "n"}});
    change.turn.emplace();
    change.turn->state = static_cast<task::TurnState>(i % 4);
    bench.must(std::move(change));
  }
  CHECK(ids(bench.tasks->open_tasks(Open::unfinished, {}, 10).value()) ==
        Texts{"t1", "t2", "t3", "t5", "t6", "t7"});
  CHECK(ids(bench.tasks->open_tasks(Open::unfinished, {}, 2).value()) == Texts{"t1", "t2"});
  CHECK(ids(bench.tasks->open_tasks(Open::unfinished, heads[2].key, 2).value()) == Texts{"t3", "t5"});
  bench.reopen();
  CHECK(ids(bench.tasks->open_tasks(Open::unfinished, {}, 10).value()) ==
        Texts{"t1", "t2", "t3", "t5", "t6", "t7"});
}

STORE_TEST_CASE("TaskStore: open children are those of the parent that have not ended") {
  const task::TaskHead parent = bench.create("parent");
  const task::TaskHead stranger = bench.create("stranger");
  std::vector<task::TaskHead> children;
  for (const char* id : {"a", "b", "c"}) {
    task::Change change = StoreBench::creation(id, {status(State::submitted)});
    change.create->parent = parent.key;
    children.push_back(bench.must(std::move(change)).head);
  }
  CHECK(children[0].parent == parent.key);
  task::Change alone = StoreBench::creation("detached", {status(State::submitted)});
  alone.create->parent = parent.key;
  alone.create->detached = true;
  const task::TaskHead detached = bench.must(std::move(alone)).head;
  CHECK(bench.tasks->row(detached.key)->head.detached);
  bench.must(children[1], {status(State::canceled)});
  const auto open = [&](Open which, task::TaskKey key, int limit = 10) {
    return bench.tasks->open_tasks(which, key, limit).value();
  };
  CHECK(ids(open(Open::children, parent.key)) == Texts{"a", "c"});
  CHECK(ids(open(Open::children, parent.key, 1)) == Texts{"a"});
  CHECK(open(Open::children, parent.key)[0].parent == parent.key);
  CHECK(open(Open::children, stranger.key).empty());
  CHECK(open(Open::orphans, {}).empty());
  bench.must(parent, {status(State::failed)});
  CHECK(ids(open(Open::orphans, {})) == Texts{"a", "c"});
  CHECK(ids(open(Open::orphans, {}, 1)) == Texts{"a"});
  CHECK(ids(open(Open::orphans, children[0].key)) == Texts{"c"});
}

STORE_TEST_CASE("TaskStore: events are read in order, after a number, up to a limit") {
  const task::TaskHead head = bench.create("t1");
  for (int i = 0; i < 10; ++i) bench.must(head, {delta("r1", std::to_string(i))});
  CHECK(consecutive(bench.log(head)));
  CHECK(bench.log(head).size() == 12);
  const auto some = bench.tasks->events(head.key, {5}, 3);
  REQUIRE(some->size() == 3);
  CHECK((*some)[0].number.value == 6);
  CHECK(std::get<task::TextDelta>((*some)[0].body).text == "3");
  CHECK(bench.tasks->events(head.key, {12}, 3)->empty());
  CHECK(bench.tasks->events(head.key, {0}, 0)->empty());
}

STORE_TEST_CASE("TaskStore: a reopened store has all data") {
  const task::TaskHead head = bench.create("t1");
  bench.must(head,
             {status(State::working), delta("r1", "Hel"), delta("r1", "lo"), chunk("a1", "one", false)});
  bench.reopen();
  const task::Task before = bench.read(head);
  CHECK(before.artifacts.size() == 2);
  const store::Committed next = bench.must(head, {delta("r1", "!"), chunk("a1", "two", true)});
  CHECK(next.events[0]->number.value == 7);
  CHECK(next.head.artifact_count == 2);
  const task::Task after = bench.read(head);
  CHECK(texts(after.artifacts[0]) == Texts{"Hello!"});
  CHECK(texts(after.artifacts[1]) == Texts{"one", "two"});
}

}  // namespace task_store_test
