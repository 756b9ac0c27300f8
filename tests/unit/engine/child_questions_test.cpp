// Children's questions go up to the caller of their parents, and the answers go down.
#include "engine/decide/rules/child_questions.h"

#include <doctest/doctest.h>

#include "unit/engine/family.h"

namespace child_questions_test {

using namespace family;

TEST_CASE("ChildQuestions: a question's id has the ids of the subagent and of its question") {
  const auto parts = engine::parts_of_ask(engine::ask_of("a.b-2", {17}));
  CHECK(parts.subagent == "a.b-2");
  CHECK(parts.number == task::EventNumber{17});
  CHECK(engine::parts_of_ask("q1").number == task::EventNumber{});
}

TEST_CASE("ChildQuestions: removing a subagent's earlier question keeps its newer one") {
  engine::ChildQuestions questions;
  for (const std::int64_t number : {7, 11}) {
    engine::ChildQuestion question;
    question.number = {number};
    question.ask = engine::ask_of("sub", question.number);
    questions.add({1}, question);
  }
  CHECK(questions.forget({1}, "sub", {8}));
  CHECK(!questions.answer({1}, "sub.7"));
  CHECK(!questions.forget({1}, "sub", {8}));
  CHECK(!questions.forget({1}, "other", {100}));
  CHECK(questions.answer({1}, "sub.11"));
}

TEST_CASE("ChildQuestions: after an answer on another node the next question is shown, not the old one") {
  engine::ChildQuestions questions;
  for (const std::string subagent : {"a", "b"}) {
    engine::ChildQuestion question;
    question.ask = engine::ask_of(subagent, {7});
    question.about = {3};
    questions.add({1}, question);
  }
  task::TaskHead parent;
  parent.key = {1};
  parent.turn_message = {3};
  parent.turn_state = TurnState::waiting;
  parent.state = State::working;
  parent.ask = "a.7";
  CHECK(!questions.turnover(parent));
  CHECK(questions.answer({1}, "a.7"));
  const auto turnover = questions.turnover(parent);
  REQUIRE(turnover.next);
  CHECK(turnover.next->ask == "b.7");
  CHECK(!turnover.withdraws);
}

TEST_CASE("Delegation: the parent shows its child's question, and the answer goes to the child") {
  for (const bool waits : {false, true}) {
    EngineBench bench;
    Family all(bench, waits);
    all.child->sink->finish(question("how?"));
    REQUIRE(bench.wait(all.key)->state == State::input_required);
    const auto asked = bench.engine().reader().read(all.key, {});
    CHECK(task::text_of(*asked->status.message) == "how?");
    REQUIRE(asked->status.asked_by.size() == 1);
    CHECK(asked->status.asked_by[0].agent == task::AgentName{"helper"});
    CHECK(asked->status.asked_by[0].task == all.child->turn.task);
    CHECK(asked->status.asked_by[0].ask == head(bench, all.key).ask);
    CHECK(head(bench, all.key).turn_state == (waits ? TurnState::waiting : TurnState::running));

    const std::string ask = head(bench, all.key).ask;
    REQUIRE(answer(bench, "t1", "so"));
    CHECK(head(bench, all.key).state == State::working);
    CHECK(head(bench, all.key).ask == ask);
    const auto again = bench.helper().next();
    REQUIRE(again);
    CHECK(task::text_of(again->turn.message) == "so");
    CHECK(again->turn.resume_ask == "its own id");
    CHECK(again->turn.task == all.child->turn.task);
    again->sink->finish(agents::Done{});
    auto end = all.parent;
    if (waits) {
      end = bench.scripted().next();
      REQUIRE(end);
      REQUIRE(end->turn.results.size() == 1);
      CHECK(end->turn.results[0].task->status.state == State::completed);
      CHECK(end->turn.resume_ask.empty());
    } else {
      REQUIRE(bench.scripted().wait_for([&] { return all.parent->delivered.size() == 1; }));
      CHECK(all.parent->delivered[0].task->status.state == State::completed);
    }
    const auto before = head(bench, all.key).status_event;
    end->sink->finish(agents::Done{});
    CHECK(bench.wait(all.key, before.value)->state == State::completed);
    CHECK(bench.scripted().waiting() == 0);
  }
}

TEST_CASE("Delegation: the parent asks for the same kind of answer as the child") {
  EngineBench bench;
  Family all(bench);
  all.child->sink->finish(question("who are you?", true));
  CHECK(bench.wait(all.key)->state == State::auth_required);
  all.parent->sink->finish(agents::Failed{"no"});
}

TEST_CASE("Delegation: if two children ask, the second question is shown after the first answer") {
  for (const bool waits : {false, true}) {
    EngineBench bench;
    Family all(bench);
    const auto second = all.two_ask(waits);
    bench.engine().settle();
    CHECK(shown(bench, all.key) == "first?");
    const std::string ask = head(bench, all.key).ask;
    CHECK(answer(bench, "t1", "to none", "another").error().code == base::ErrorCode::conflict);

    const auto accepted = answer(bench, "t1", "one", ask);
    REQUIRE(accepted);
    CHECK(bench.wait(all.key, accepted->before.value)->state == State::input_required);
    await_question(bench, all.key, "second?");
    CHECK(head(bench, all.key).ask != ask);
    CHECK(answer(bench, "t1", "late", ask).error().code == base::ErrorCode::conflict);
    auto one = bench.helper().next();
    REQUIRE(one);
    CHECK(one->turn.task == all.child->turn.task);
    one->sink->finish(agents::Done{});
    REQUIRE(answer(bench, "t1", "two"));
    auto two = bench.helper().next();
    REQUIRE(two);
    CHECK(two->turn.task == second->turn.task);
    CHECK(task::text_of(two->turn.message) == "two");
    two->sink->finish(agents::Done{});
    if (waits) {
      all.parent = bench.scripted().next();
      REQUIRE(all.parent);
      CHECK(all.parent->turn.results.size() == 2);
    } else {
      REQUIRE(bench.scripted().wait_for([&] { return all.parent->delivered.size() == 2; }));
    }
    all.parent->sink->finish(agents::Done{});
    await_state(bench, all.key, State::completed);
  }
}

TEST_CASE("Delegation: a question rises to the root level by level, and its answer goes down") {
  EngineBench bench;
  const auto root = bench.submit(EngineBench::message("root", "t1"));
  const auto top = bench.scripted().next();
  top->sink->delegate(call("d1"));
  const auto middle = bench.helper().next();
  REQUIRE(middle);
  middle->sink->delegate(call("d2", "scripted"));
  const auto bottom = bench.scripted().next();
  REQUIRE(bottom);
  top->sink->finish(agents::Waits{});
  bottom->sink->finish(question("deep?"));
  await_question(bench, root->key, "deep?");
  const auto status = bench.engine().reader().read(root->key, {})->status;
  REQUIRE(status.asked_by.size() == 2);
  CHECK(status.asked_by[0].task == middle->turn.task);
  CHECK(status.asked_by[1].task == bottom->turn.task);
  REQUIRE(answer(bench, "t1", "down"));
  const auto again = bench.scripted().next();
  REQUIRE(again);
  CHECK(again->turn.task == bottom->turn.task);
  CHECK(task::text_of(again->turn.message) == "down");
  await_state(bench, key_of(bench, middle), State::working);
  again->sink->finish(agents::Done{});
  REQUIRE(bench.helper().wait_for([&] { return middle->delivered.size() == 1; }));
  middle->sink->finish(agents::Done{});
  const auto end = bench.scripted().next();
  REQUIRE(end);
  end->sink->finish(agents::Done{});
  await_state(bench, root->key, State::completed);
}

TEST_CASE("Delegation: a question is withdrawn if it is answered elsewhere or its child ends") {
  for (const bool waits : {false, true}) {
    EngineBench bench;
    Family all(bench);
    const auto second = all.two_ask(waits);
    auto direct = EngineBench::message("directly", all.child->turn.task.value);
    direct.agent = {"helper"};
    REQUIRE(bench.submit(direct));
    await_question(bench, all.key, "second?");
    auto again = bench.helper().next();
    REQUIRE(again);
    again->sink->finish(agents::Done{});

    std::promise<void> canceled;
    bench.engine().cancels().cancel({task::kAnonymous, {"helper"}, second->turn.task},
                                    [&](const auto&) { canceled.set_value(); });
    canceled.get_future().wait();
    await_state(bench, all.key, State::working);
    if (waits) {
      all.parent = bench.scripted().next();
      REQUIRE(all.parent);
      REQUIRE(all.parent->turn.results.size() == 2);
      CHECK(all.parent->turn.results[1].error == "canceled");
    } else {
      REQUIRE(bench.scripted().wait_for([&] { return all.parent->delivered.size() == 2; }));
    }
    all.parent->sink->finish(agents::Done{});
    await_state(bench, all.key, State::completed);
  }
}

TEST_CASE("Delegation: while a child asks, a running turn's text is a new reply and its notes are dropped") {
  EngineBench bench;
  Family all(bench);
  all.parent->sink->text("before. ");
  all.child->sink->finish(question("how?"));
  await_question(bench, all.key, "how?");
  const auto asked = head(bench, all.key).status_event;
  task::StatusChanged note;
  note.status.state = State::working;
  note.metadata.text = R"({"progress":0.5})";
  all.parent->sink->emit(note);
  all.parent->sink->text("meanwhile.");
  while (head(bench, all.key).last_event == asked) std::this_thread::yield();
  bench.engine().settle();
  CHECK(shown(bench, all.key) == "how?");
  const auto accepted = answer(bench, "t1", "so");
  REQUIRE(accepted);
  CHECK(accepted->before == asked);
  bench.helper().next()->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return all.parent->delivered.size() == 1; }));
  all.parent->sink->finish(agents::Done{});
  await_state(bench, all.key, State::completed);
  const auto task = bench.engine().reader().read(all.key, {});
  REQUIRE(task->artifacts.size() == 2);
  CHECK(task->artifacts[0].parts.at(0).content == "before. ");
  CHECK(task->artifacts[1].parts.at(0).content == "meanwhile.");
}

TEST_CASE("Delegation: a turn's own question replaces its child's question, and is answered") {
  EngineBench bench;
  Family all(bench);
  all.child->sink->finish(question("the child's"));
  await_question(bench, all.key, "the child's");
  all.parent->sink->finish(question("its own"));
  await_question(bench, all.key, "its own");
  CHECK(head(bench, all.key).ask == "its own id");
  REQUIRE(answer(bench, "t1", "so"));
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.resume_ask == "its own id");
  next->sink->finish(agents::Done{});
  await_state(bench, all.key, State::completed);
}

TEST_CASE("Delegation: after a child's question the turn gets the message that it answers again") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("first", "t1"));
  bench.scripted().next()->sink->finish(question("which?"));
  await_question(bench, accepted->key, "which?");
  REQUIRE(answer(bench, "t1", "this"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  parent->sink->delegate(call("d1"));
  parent->sink->finish(agents::Waits{});
  bench.helper().next()->sink->finish(question("how?"));
  await_question(bench, accepted->key, "how?");
  REQUIRE(answer(bench, "t1", "so"));
  bench.helper().next()->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(task::text_of(next->turn.message) == "this");
  CHECK(next->turn.resume_ask == "its own id");
  // Its history has the child's question and the caller's answer to it.
  REQUIRE(next->turn.history.size() >= 2);
  CHECK(task::text_of(next->turn.history.back()) == "so");
  next->sink->finish(agents::Done{});
  await_state(bench, accepted->key, State::completed);
}

TEST_CASE("Delegation: a message sent before the question waits for the turn, the answer does not") {
  EngineBench bench;
  Family all(bench);
  REQUIRE(answer(bench, "t1", "later"));
  all.child->sink->finish(question("how?"));
  await_question(bench, all.key, "how?");
  REQUIRE(answer(bench, "t1", "so"));
  const auto again = bench.helper().next();
  REQUIRE(again);
  CHECK(task::text_of(again->turn.message) == "so");
  again->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return all.parent->delivered.size() == 1; }));
  all.parent->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(task::text_of(next->turn.message) == "later");
  next->sink->finish(agents::Done{});
  await_state(bench, all.key, State::completed);
}

}  // namespace child_questions_test
