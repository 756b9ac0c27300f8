// That a store says the same of a task from its memory as from the disk, whatever has become of the task.
#include "store_bench.h"

namespace contract_recent_tasks_test {

using namespace baton;
using namespace baton::test;
using task::State;

namespace {

// All that can be asked about a task, of a store that has it in memory and of one that has just been opened.
void same_from_disk(StoreBench& bench, const task::TaskHead& head) {
  const auto look = [&] {
    std::vector<task::Task> tasks;
    for (std::int64_t as_of = 1; as_of <= head.last_event.value; ++as_of) {
      auto task = bench.store->read(head.key, {std::nullopt, true}, task::EventNumber{as_of});
      succeed(task);
      tasks.push_back(std::move(*task));
    }
    return tasks;
  };
  const task::TaskRef ref{head.caller, head.agent, head.id};
  const auto before = look();
  const auto whole_before = bench.store->read(ref, {1, true});
  succeed(whole_before);
  const auto head_before = bench.store->head(head.key);
  succeed(head_before);
  const auto events_before = bench.store->events(head.key, {1}, 3);
  succeed(events_before);
  bench.reopen();
  const auto after = look();
  const auto whole_after = bench.store->read(ref, {1, true});
  succeed(whole_after);
  for (const auto* whole : {&*whole_before, &*whole_after}) {
    CHECK(whole->last_event == head.last_event);
    CHECK(whole->status.at == before.back().status.at);
    CHECK(whole->artifacts == before.back().artifacts);
    CHECK(whole->history.size() == 1);
    CHECK(whole->metadata == before.back().metadata);
    CHECK(whole->context == head.context);
  }
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CAPTURE(i);
    CHECK(before[i].id == after[i].id);
    CHECK(before[i].context == after[i].context);
    CHECK(before[i].status.state == after[i].status.state);
    CHECK(before[i].status.at == after[i].status.at);
    CHECK(before[i].status.message == after[i].status.message);
    CHECK(before[i].artifacts == after[i].artifacts);
    CHECK(before[i].history == after[i].history);
    CHECK(before[i].metadata == after[i].metadata);
    CHECK(before[i].last_event == after[i].last_event);
    CHECK(before[i].origin == after[i].origin);
  }
  const auto head_after = bench.store->head(ref);
  succeed(head_after);
  CHECK(head_before->key == head_after->key);
  CHECK(head_before->context_key == head_after->context_key);
  CHECK(head_before->context == head_after->context);
  CHECK(head_before->parent == head_after->parent);
  CHECK(head_before->origin == head_after->origin);
  CHECK(head_before->last_event == head_after->last_event);
  CHECK(head_before->turn == head_after->turn);
  CHECK(head_before->turn_state == head_after->turn_state);
  CHECK(head_before->attempt == head_after->attempt);
  CHECK(head_before->waiting_messages == head_after->waiting_messages);
  CHECK(head_before->cancel_requested == head_after->cancel_requested);
  CHECK(head_before->artifact_count == head_after->artifact_count);
  CHECK(head_before->version == head_after->version);
  CHECK(head_before->state == head_after->state);
  CHECK(head_before->status_at == head_after->status_at);
  CHECK(head_before->ask == head_after->ask);
  CHECK(head_before->turn_message == head_after->turn_message);
  CHECK(head_before->message_count == head_after->message_count);
  const auto events_after = bench.store->events(head.key, {1}, 3);
  succeed(events_after);
  REQUIRE(events_before->size() == events_after->size());
  for (std::size_t i = 0; i < events_before->size(); ++i) {
    CHECK((*events_before)[i].number == (*events_after)[i].number);
    CHECK((*events_before)[i].at == (*events_after)[i].at);
    CHECK((*events_before)[i].body.index() == (*events_after)[i].body.index());
  }
}

}  // namespace

TEST_CASE("Store: a new task is the same from memory as from the disk") {
  StoreBench bench;
  task::Change creation = StoreBench::creation("t1", {status(State::submitted), user("m1")});
  creation.create->origin = task::Generation::none;
  creation.create->parent = bench.create("t0").key;
  auto head = bench.must(std::move(creation)).head;
  bench.clock.advance(std::chrono::seconds(5));
  head =
      bench.must(head, {status(State::working), delta("r", "He"), delta("r", "llo"), chunk("a", "1", false)})
          .head;
  head = bench.must(head, {chunk("a", "2", true), task::Withdrawn{{{"r"}}}, delta("r", "again")}).head;
  task::Change asks =
      StoreBench::change(head, {status(State::input_required, message(task::Role::agent, "q", "?"))});
  asks.turn.emplace();
  asks.turn->ask = "a1";
  head = bench.must(std::move(asks)).head;
  same_from_disk(bench, head);
}

TEST_CASE("Store: a task that has outgrown the memory is the same from the disk") {
  StoreBench bench;
  auto head = bench.create("t1");
  head = bench.must(head, {status(State::working)}).head;
  for (int i = 0; i < 70; ++i) head = bench.must(head, {delta("r", std::to_string(i) + " ")}).head;
  head = bench.must(head, {status(State::completed)}).head;
  same_from_disk(bench, head);
}

TEST_CASE("Store: what is asked about a turn is the same from memory as from the disk") {
  StoreBench bench;
  task::Change change = StoreBench::creation("t1", {status(State::submitted), user("m1", "hi")});
  change.create->metadata = {R"({"k":1})"};
  change.request.emplace();
  change.request->tools = {R"([{"name":"x"}])"};
  const auto head = bench.must(std::move(change)).head;
  const auto later = bench.must(head, {user("m2", "more")}).head;
  for (int round = 0; round < 2; ++round) {
    const auto first = bench.store->turn_input(head.key, {2});
    succeed(first);
    CHECK(task::text_of(first->message) == "hi");
    CHECK(first->request.tools.text == R"([{"name":"x"}])");
    const auto second = bench.store->turn_input(head.key, {3});
    succeed(second);
    CHECK(task::text_of(second->message) == "more");
    CHECK(second->request.tools.empty());
    const auto said = bench.store->conversation(later.context_key, head.key, {2}, 10);
    succeed(said);
    CHECK(said->empty());
    bench.reopen();
  }
}

TEST_CASE("Store: the conversation of a context with an earlier task is read, of a new one there is none") {
  StoreBench bench;
  const auto first = bench.create("t1");
  const auto second = bench.create("t2");
  const auto said = bench.store->conversation(second.context_key, second.key, {2}, 10);
  succeed(said);
  CHECK(texts(*said) == Texts{"hello"});
  const auto also = bench.store->conversation(first.context_key, first.key, {2}, 10);
  succeed(also);
  CHECK(texts(*also) == Texts{"hello"});
}

}  // namespace contract_recent_tasks_test
