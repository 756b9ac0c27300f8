#include "unit/engine/family.h"

namespace child_replies_test {

using namespace family;

using Replies = std::vector<agents::SaidReply>;

Replies replies_of(EngineBench& bench, task::TaskKey key) {
  agents::SaidReplies replies;
  for (const task::Event& event : bench.log(key)) {
    if (const auto* piece = std::get_if<task::TextDelta>(&event.body)) replies.add(*piece);
    if (const auto* withdrawn = std::get_if<task::Withdrawn>(&event.body)) replies.drop(*withdrawn);
  }
  return std::move(replies).take();
}

std::string text_of(EngineBench& bench, task::TaskKey key) {
  std::string text;
  for (const agents::SaidReply& reply : replies_of(bench, key)) text += "[" + reply.text + "]";
  return text;
}

void await_text(EngineBench& bench, task::TaskKey key, const std::string& text) {
  while (text_of(bench, key) != text) std::this_thread::yield();
}

// How often the task's log begins a reply.
std::size_t begun(EngineBench& bench, task::TaskKey key) {
  std::size_t count = 0;
  for (const task::Event& event : bench.log(key)) {
    const auto* piece = std::get_if<task::TextDelta>(&event.body);
    count += piece != nullptr && piece->first ? 1 : 0;
  }
  return count;
}

engine::LiveTasks::Subscription read(EngineBench& bench, task::TaskKey key) {
  return bench.engine().live().subscribe(key, [] {});
}

// A parent that waits for a child whose replies are its own, and its reader.
struct Shown {
  explicit Shown(EngineBench& all, bool is_read = true, int other_children = 0) : bench(all) {
    key = bench.submit(EngineBench::message("parent", "t1"))->key;
    const auto parent = bench.scripted().next();
    REQUIRE(parent);
    agents::DelegateRequest request = call("d1");
    request.shows_replies = true;
    parent->sink->delegate(std::move(request));
    child = bench.helper().next();
    REQUIRE(child);
    for (int i = 0; i < other_children; ++i) {
      parent->sink->delegate(call("o" + std::to_string(i)));
      REQUIRE(others.emplace_back(bench.helper().next()));
    }
    parent->sink->finish(agents::Waits{});
    while (head(bench, key).turn_state != TurnState::waiting) std::this_thread::yield();
    if (is_read) reader = read(bench, key);
  }

  EngineBench& bench;
  task::TaskKey key;
  Running child;
  std::vector<Running> others;
  engine::LiveTasks::Subscription reader;
};

TEST_CASE("A child's replies are shown as its parent's, piece by piece, while the child works") {
  EngineBench bench;
  Shown family(bench);
  family.child->sink->text("one ");
  await_text(bench, family.key, "[one ]");
  family.child->sink->text("two");
  await_text(bench, family.key, "[one two]");
  family.child->sink->emit(task::ToolCall{"c1", "look", {}, false});
  family.child->sink->text("three");
  await_text(bench, family.key, "[one two][three]");
  const Replies there = replies_of(bench, family.key);
  CHECK(!there[0].is_open);
  CHECK(there[1].is_open);
  CHECK(there[0].id.value == "t1-s2.0");
  CHECK(there[1].id.value == "t1-s2.1");
  CHECK(begun(bench, family.key) == 2);
  family.child->sink->finish(agents::Done{});
}

TEST_CASE("A child that answers at once leaves its reply to its parent's turn") {
  EngineBench bench;
  Shown family(bench);
  family.child->sink->hold();
  family.child->sink->text("whole");
  family.child->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(text_of(bench, family.key).empty());
  next->sink->reply({{"r"}, "whole", true});
  next->sink->finish(agents::Done{});
  REQUIRE(bench.wait(family.key));
  CHECK(text_of(bench, family.key) == "[whole]");
}

TEST_CASE("The parent's turn completes the shown reply, with one beginning and one end in the log") {
  EngineBench bench;
  Shown family(bench);
  family.child->sink->text("one ");
  await_text(bench, family.key, "[one ]");
  const Replies there = replies_of(bench, family.key);
  family.child->sink->hold();
  family.child->sink->text("two");
  family.child->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  next->sink->reply({there[0].id, "two"});
  next->sink->finish(agents::Done{});
  REQUIRE(bench.wait(family.key));
  CHECK(text_of(bench, family.key) == "[one two]");
  CHECK(begun(bench, family.key) == 1);
  CHECK(!replies_of(bench, family.key)[0].is_open);
}

TEST_CASE("A reply that is withdrawn in the child is replaced in the parent, also over a crash") {
  EngineBench bench(quick_to_stop());
  task::TaskKey key;
  {
    Shown family(bench);
    key = family.key;
    family.child->sink->text("once upon");
    await_text(bench, key, "[once upon]");
  }
  bench.die();
  const auto child = bench.helper().next();
  REQUIRE(child);
  CHECK(child->turn.attempt == 2);
  const auto reader = read(bench, key);
  child->sink->text("once more");
  await_text(bench, key, "[once more]");
  child->sink->text(", and on");
  await_text(bench, key, "[once more, and on]");
  child->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  next->sink->finish(agents::Done{});
  REQUIRE(bench.wait(key));
  CHECK(text_of(bench, key) == "[once more, and on]");
}

TEST_CASE("A reply that a child withdraws is withdrawn in the parent before the child says anything else") {
  EngineBench bench(quick_to_stop());
  task::TaskKey key;
  {
    Shown family(bench);
    key = family.key;
    family.child->sink->text("once upon");
    await_text(bench, key, "[once upon]");
  }
  bench.die();
  REQUIRE(bench.helper().next());
  const auto reader = read(bench, key);
  await_text(bench, key, "");
  const auto task = bench.engine().reader().read(key, {});
  REQUIRE(task);
  CHECK(task->artifacts.empty());
}

TEST_CASE("A child's replies are shown from when somebody reads the parent, and until nobody does") {
  EngineBench bench;
  Shown family(bench, false);
  const task::TaskKey child = key_of(bench, family.child);
  family.child->sink->text("one ");
  await_text(bench, child, "[one ]");
  const auto subscriptions = [&] { return bench.engine().live().counts().subscriptions; };
  const std::size_t unread = subscriptions();
  CHECK(text_of(bench, family.key).empty());
  family.reader = read(bench, family.key);
  await_text(bench, family.key, "[one ]");
  family.child->sink->text("two ");
  await_text(bench, family.key, "[one two ]");
  family.reader = {};
  family.child->sink->text("three ");
  await_text(bench, child, "[one two three ]");
  while (subscriptions() != unread) std::this_thread::yield();
  family.reader = read(bench, family.key);
  await_text(bench, family.key, "[one two three ]");
  family.child->sink->finish(agents::Done{});
}

TEST_CASE("A child's words before its question come before it, and its reply has ended") {
  EngineBench bench;
  Shown family(bench);
  family.child->sink->text("I need to know.");
  family.child->sink->finish(question("which?"));
  await_question(bench, family.key, "which?");
  CHECK(text_of(bench, family.key) == "[I need to know.]");
  CHECK(!replies_of(bench, family.key)[0].is_open);
  REQUIRE(answer(bench, "t1", "this"));
  const auto again = bench.helper().next();
  REQUIRE(again);
  again->sink->text("Now I do.");
  await_text(bench, family.key, "[I need to know.][Now I do.]");
  again->sink->finish(agents::Done{});
}

TEST_CASE("A child's words before its question are shown even if nobody reads the parent") {
  EngineBench bench;
  Shown family(bench, false);
  family.child->sink->text("I need to know.");
  family.child->sink->finish(question("which?"));
  await_question(bench, family.key, "which?");
  CHECK(text_of(bench, family.key) == "[I need to know.]");
}

TEST_CASE("A child that is canceled, or whose parent is, is shown no more") {
  EngineBench bench;
  Shown family(bench);
  family.child->sink->text("one");
  await_text(bench, family.key, "[one]");
  REQUIRE(bench.cancel({"t1"}));
  family.child->sink->text("two");
  family.child->sink->finish(agents::Canceled{});
  REQUIRE(bench.wait(key_of(bench, family.child)));
  CHECK(text_of(bench, family.key) == "[one]");
  CHECK(head(bench, family.key).state == State::canceled);
}

TEST_CASE("A child's words are shown once, whatever other children log in the parent meanwhile") {
  EngineBench bench;
  Shown family(bench, true, 3);
  std::string whole;
  for (const Running& other : family.others) {
    const std::string word = std::to_string(whole.size()) + " ";
    whole += word;
    family.child->sink->text(word);
    other->sink->finish(agents::Done{});
  }
  await_text(bench, family.key, "[" + whole + "]");
  CHECK(begun(bench, family.key) == 1);
  family.child->sink->finish(agents::Done{});
}

TEST_CASE("Replies that would fill more than half of the parent's space are shown no more") {
  EngineBench::Options options;
  options.engine.task_bytes_max = 20'000;
  EngineBench bench(options);
  Shown family(bench);
  family.child->sink->text("begun");
  await_text(bench, family.key, "[begun]");
  family.child->sink->text(std::string(15'000, 'x'));
  family.child->sink->text("end");
  family.child->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(text_of(bench, family.key) == "[begun]");
  next->sink->finish(agents::Done{});
  REQUIRE(bench.wait(family.key));
  CHECK(bench.submit(EngineBench::message("more", "t1")));
}

TEST_CASE("The replies of a child that was not asked for them stay its own") {
  EngineBench bench;
  Family family(bench, true);
  family.child->sink->text("one");
  family.child->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().next());
  CHECK(text_of(bench, family.key).empty());
}

}  // namespace child_replies_test
