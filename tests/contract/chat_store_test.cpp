// What every TaskStore promises the chat protocols: where runs begin, what a client said
// the conversation was, and the kinds of events only they show.
#include "contract/store_bench.h"

namespace chat_store_test {

using namespace baton;
using namespace baton::test;
using task::State;

namespace {

// A submitted task whose turn is queued, with a history of the client's own.
task::Change with_history(const std::string& id, std::vector<task::Message> history) {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m1")});
  change.request.emplace();
  change.request->history = std::move(history);
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  change.turn->message_is_new = true;
  return change;
}

task::Change of_turn(const task::TaskHead& head, task::TurnState state, std::vector<task::EventBody> events) {
  task::Change change = StoreBench::change(head, std::move(events));
  change.turn.emplace();
  change.turn->state = state;
  return change;
}

// A further message with the history that came with it, waiting for its turn.
task::Change further(const task::TaskHead& head, const std::string& id) {
  task::Change change = StoreBench::change(head, {user(id)});
  change.request.emplace();
  change.request->history.emplace();
  change.request->history->push_back(message(task::Role::user, "h", "of " + id));
  return change;
}

bool has_history(StoreBench& bench, const task::TaskHead& head, std::int64_t number) {
  const auto input = bench.tasks->turn_input(head.key, {number});
  REQUIRE(input.has_value());
  return input->request.history.has_value();
}

}  // namespace

STORE_TEST_CASE("TaskStore: the last stop before an event ends the previous run") {
  const task::TaskHead head = bench.create("t1");
  const auto last = [&](std::int64_t before) {
    return bench.tasks->stop_before(head.key, {before}).value().value;
  };
  CHECK(last(1) == 0);
  CHECK(last(100) == 0);
  bench.must(head, {status(State::working), status(State::input_required), status(State::submitted),
                    status(State::working), status(State::auth_required), status(State::working),
                    status(State::completed)});  // 3 to 9
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(last(2) == 0);
    CHECK(last(4) == 0);
    CHECK(last(5) == 4);
    CHECK(last(7) == 4);
    CHECK(last(8) == 7);
    CHECK(last(9) == 7);
    CHECK(last(10) == 9);
    CHECK(bench.tasks->stop_after(head.key, {0}).value()->number.value == 4);
    CHECK(bench.tasks->stop_after(head.key, {4}).value()->number.value == 7);
    CHECK_FALSE(bench.tasks->stop_after(head.key, {9}).value());
    bench.reopen();
  }
  CHECK(bench.tasks->stop_before({77}, {5})->value == 0);
}

STORE_TEST_CASE("TaskStore: a refused status does not count as a stop") {
  const task::TaskHead head = bench.create("t1");
  CHECK_FALSE(bench.commit(StoreBench::change(head, {status(State::completed), user("late")})).has_value());
  CHECK(bench.tasks->stop_before(head.key, {100})->value == 0);
}

STORE_TEST_CASE("TaskStore: a client's history is kept with its message until the turn has ended") {
  task::Message silent = message(task::Role::agent, "h2", "");
  silent.parts.clear();
  task::TaskHead head =
      bench.must(with_history("t1", {message(task::Role::user, "h1", "mine"), silent})).head;
  bench.reopen();
  auto input = bench.tasks->turn_input(head.key, {2});
  REQUIRE(input->request.history);
  CHECK(texts(*input->request.history) == Texts{"mine", ""});
  CHECK(input->request.history->at(0).id.value == "h1");
  CHECK(input->request.history->at(1).role == task::Role::agent);
  CHECK(input->request.history->at(1).parts.empty());
  head = bench.must(of_turn(head, task::TurnState::running, {status(State::working)})).head;
  bench.must(head, {delta("r", "output")});
  // A restart: the same turn runs again.
  head = bench.must(of_turn(head, task::TurnState::queued, {})).head;
  head = bench.must(of_turn(head, task::TurnState::running, {status(State::working)})).head;
  CHECK(has_history(bench, head, 2));
  bench.must(of_turn(head, task::TurnState::none, {status(State::completed)}));
  CHECK_FALSE(has_history(bench, head, 2));
}

STORE_TEST_CASE("TaskStore: an empty history differs from no history") {
  const task::TaskHead empty = bench.must(with_history("t1", {})).head;
  const auto input = bench.tasks->turn_input(empty.key, {2});
  REQUIRE(input->request.history);
  CHECK(input->request.history->empty());
  CHECK_FALSE(has_history(bench, bench.create("t2"), 2));
}

STORE_TEST_CASE("TaskStore: the other data of a message stays when its history is dropped") {
  task::Change change = with_history("t1", {});
  change.request->tools = {"[1]"};
  change.request->extensions = {"x"};
  change.request->hops = {"n/a", "m/b"};
  change.request->trace = "00-trace";
  const task::TaskHead head = bench.must(std::move(change)).head;
  bench.must(of_turn(head, task::TurnState::none, {status(State::canceled)}));
  const auto input = bench.tasks->turn_input(head.key, {2});
  CHECK_FALSE(input->request.history);
  CHECK(input->request.tools.text == "[1]");
  CHECK(input->request.extensions == Texts{"x"});
  CHECK(input->request.hops == Texts{"n/a", "m/b"});
  CHECK(input->request.trace == "00-trace");
}

STORE_TEST_CASE("TaskStore: a queued message's history is kept until that message's turn has ended") {
  task::TaskHead head = bench.must(with_history("t1", {})).head;
  head = bench.must(of_turn(head, task::TurnState::running, {status(State::working)})).head;  // 3
  head = bench.must(further(head, "m2")).head;                                                // 4
  head = bench.must(further(head, "m3")).head;                                                // 5
  task::Change next = of_turn(head, task::TurnState::queued, {status(State::submitted)});
  next.turn->turn = task::TurnNumber{2};
  next.turn->message = task::EventNumber{4};
  head = bench.must(std::move(next)).head;
  CHECK_FALSE(has_history(bench, head, 2));
  CHECK(has_history(bench, head, 4));
  CHECK(has_history(bench, head, 5));
  // The task ends for good: the queued message will not get a turn.
  head = bench.must(of_turn(head, task::TurnState::none, {status(State::canceled)})).head;
  CHECK_FALSE(has_history(bench, head, 4));
  CHECK_FALSE(has_history(bench, head, 5));
}

STORE_TEST_CASE("TaskStore: a task records that its client does not speak A2A") {
  task::Change change = StoreBench::creation("t1", {status(State::submitted)});
  change.create->origin = task::ProtocolVersion::none;
  const task::TaskHead head = bench.must(std::move(change)).head;
  bench.reopen();
  CHECK(bench.head(head.key).origin == task::ProtocolVersion::none);
  CHECK(bench.read(head).origin == task::ProtocolVersion::none);
}

STORE_TEST_CASE("TaskStore: events that only chat protocols show are in the log and nowhere else") {
  const task::TaskHead head = bench.create("t1");
  task::StatusChanged asks = status(State::input_required);
  asks.ask = "ask-1";
  bench.must(head,
             {task::ReasoningDelta{{"s1"}, "hm", true, false}, task::Activity{"plan", "PLAN", {"{}"}, {}},
              task::Subagent{"t2", "helper", task::Subagent::Phase::failed, "no"},
              task::Usage{{R"({"inputTokens":3})"}}, asks});
  const auto log = bench.log(head);
  REQUIRE(log.size() == 7);
  const auto& thought = std::get<task::ReasoningDelta>(log[2].body);
  CHECK(thought.span.value == "s1");
  CHECK(thought.text == "hm");
  CHECK(thought.first);
  CHECK_FALSE(thought.last);
  CHECK(std::get<task::Activity>(log[3].body).content.text == "{}");
  CHECK(std::get<task::Subagent>(log[4].body).error == "no");
  CHECK(std::get<task::Usage>(log[5].body).used.text == R"({"inputTokens":3})");
  CHECK(task::status_in(log[6])->ask == "ask-1");
  const task::Task task = bench.read(head);
  CHECK(task.artifacts.empty());
  CHECK(task.history.size() == 1);
  CHECK(bench.context(head.context_key).said.size() == 1);
}

STORE_TEST_CASE("TaskStore: the ids of a context's tool calls are those of all its tasks, each once") {
  const task::TaskHead first = bench.create("t1");
  const task::TaskHead second = bench.create("t2");
  const task::TaskHead other = bench.create("t3", "c2");
  CHECK(bench.context(first.context_key).call_ids.empty());
  bench.must(first, {task::ToolCall{"b", "x", {}, false}, task::ToolCall{"a", "x", {}, true}});
  bench.must(second, {task::ToolCall{"a", "x", {}, false}, task::ToolResult{"z", {}, {}}});
  bench.must(other, {task::ToolCall{"c", "x", {}, false}});
  bench.reopen();
  CHECK(bench.context(first.context_key).call_ids == Texts{"a", "b"});
  CHECK(bench.context(other.context_key).call_ids == Texts{"c"});
  CHECK(bench.context({77}).call_ids.empty());
}

STORE_TEST_CASE(
    "TaskStore: the ids of questions are taken in their context as those of calls are, also after a "
    "restart") {
  const task::TaskHead head = bench.create("t1");
  task::EventBody asks = status(State::input_required);
  std::get<task::StatusChanged>(asks).ask = "q1";
  bench.must(head, {status(State::working), task::ToolCall{"c1", "look", {}, false}, asks});
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(bench.context(head.context_key).call_ids == Texts{"c1", "q1"});
    bench.reopen();
  }
}

}  // namespace chat_store_test
