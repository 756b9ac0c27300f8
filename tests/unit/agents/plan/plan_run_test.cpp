#include "agents/plan/plan_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "agents/plan/plan.h"
#include "json/writer.h"

namespace plan_run_test {
namespace {

using namespace baton;
using agents::DelegateResult;
using agents::PlanRun;

std::shared_ptr<const agents::Plan> plan_of(const std::string& text) {
  std::vector<json::SchemaProblem> problems;
  auto plan = agents::read_plan(text, {}, problems);
  for (const json::SchemaProblem& problem : problems) FAIL(problem.pointer << ": " << problem.reason);
  return plan;
}

base::Timestamp at(std::int64_t ms) {
  return base::from_ms(1'000'000 + ms);
}

task::Message saying(const std::string& text) {
  task::Message message;
  message.parts.push_back(task::Part::of_text(text));
  return message;
}

task::Message of_data(std::string data) {
  task::Message message;
  message.parts.push_back(task::Part::of_data({std::move(data)}));
  return message;
}

// A run of a plan. Each call of `turn` is one turn; the test decides when children stop.
struct Run {
  explicit Run(const std::string& text, task::Message message = saying("go"))
      : plan(plan_of(text)), sources(std::move(message)) {}

  PlanRun::Step turn(const std::vector<DelegateResult>& results = {}) {
    taken.children = begun_in_all;
    const auto read = [this](const std::string& call) -> base::Result<task::Task> {
      ++reads;
      if (const auto fault = unread.find(call); fault != unread.end()) return base::fail(fault->second);
      const auto child = children.find(call);
      if (child == children.end()) return base::fail(base::ErrorCode::not_found, "no child");
      return child->second;
    };
    const auto is_wanted = [this] { return ++asked <= wanted_until; };
    const auto choose = [this](const std::string&, const std::string&) { return skilled; };
    PlanRun run(*plan, facts,
                {now, sources, read, choose, budget, taken, canceled, {fill_max, is_wanted}, undo_grace});
    for (const DelegateResult& result : results) run.take(result);
    PlanRun::Step step = run.advance();
    begun.clear();
    for (const auto& begin : step.begins) begun.push_back(begin.label + "=" + task::text_of(begin.message));
    begun_in_all += std::ssize(step.begins);
    return step;
  }

  DelegateResult stopped(const std::string& call, task::State state, const std::string& text,
                         const std::string& data = {}) {
    task::Task child;
    child.id.value = "id of " + call;
    child.status.state = state;
    child.status.at = now;
    task::Artifact artifact;
    artifact.parts.push_back(task::Part::of_text(text));
    if (!data.empty()) artifact.parts.push_back(task::Part::of_data({data}));
    child.artifacts.push_back(std::move(artifact));
    children[call] = child;
    const bool is_done = state == task::State::completed;
    return {call, std::move(child), is_done ? "" : text, 0, 0};
  }
  DelegateResult done(const std::string& call, const std::string& text = "ok", const std::string& data = {}) {
    return stopped(call, task::State::completed, text, data);
  }
  DelegateResult failed(const std::string& call, const std::string& why) {
    return stopped(call, task::State::failed, why);
  }

  std::shared_ptr<const agents::Plan> plan;
  agents::PlanFacts facts;
  agents::PlanSources sources;
  std::map<std::string, task::Task> children;
  std::map<std::string, base::Error> unread;  // children that cannot be read, and why
  base::Timestamp now = at(0);
  task::Budget budget;
  task::Taken taken;
  bool canceled = false;
  std::optional<std::string> skilled;  // the agent with any skill
  std::size_t fill_max = 1 << 20;
  base::Duration undo_grace = std::chrono::seconds(60);
  std::vector<std::string> begun;  // what the last turn has begun, as label=text
  std::int64_t begun_in_all = 0;
  int reads = 0;
  std::int64_t asked = 0, wanted_until = std::numeric_limits<std::int64_t>::max();
};

using Words = std::vector<std::string>;

std::string failure(const PlanRun::Step& step) {
  return step.end ? step.end->text : "goes on";
}

constexpr char kEach[] = R"({"id": "p", "sequence": [{"id": "list", "agent": "a"},
    {"id": "each", "over": "/steps/list/OVER", "map": {"id": "one", "agent": "b", "input": "item {{/item}}"}}]})";

std::string each_over(const std::string& what) {
  std::string text = kEach;
  return text.replace(text.find("OVER"), 4, what);
}

const char* const kReserve = R"({"id": "p", "sequence": [
    {"id": "hotel", "agent": "a", "input": "book",
     "compensate": {"id": "undo", "agent": "a", "input": "undo {{/steps/hotel/text}}"}},
    {"id": "then", "agent": "a", "input": "next"}, {"id": "last", "agent": "a", "input": "third"}]})";

}  // namespace

TEST_CASE("PlanRun: a map over a value that is not a list fails, and the error shows the value") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"items": "[1,2]"})", "the string \"[1,2]\""},
      {R"({"items": {"a": 1}})", "an object"},
      {R"({"items": 3})", "the number 3"},
      {R"({"items": null})", "nothing"},
      {R"({"other": [1]})", "nothing"}};
  for (const auto& [data, found] : cases) {
    Run run(each_over("data/items"));
    run.turn();
    const auto step = run.turn({run.done("p/list#1", "", data)});
    CHECK(failure(step) ==
          "step each failed: its items must be a list, but /steps/list/data/items is " + found);
  }
}

TEST_CASE("PlanRun: a map over an empty list is done, and a text that holds a list is read as the list") {
  Run empty(each_over("data/items"));
  empty.turn();
  const auto step = empty.turn({empty.done("p/list#1", "", R"({"items": []})")});
  CHECK((step.end && step.end->failure.empty()));

  Run text(each_over("text"));
  text.turn();
  text.turn({text.done("p/list#1", " [\"x\", 7]\n")});
  CHECK(text.begun == Words{"each[0]/one=item x", "each[1]/one=item 7"});

  Run words(each_over("text"));
  words.turn();
  CHECK(failure(words.turn({words.done("p/list#1", "x and y")})) ==
        "step each failed: its items must be a list, but /steps/list/text is the string \"x and y\"");
}

TEST_CASE("PlanRun: pointers in the list of a map are filled in") {
  Run run(R"({"id": "p", "over": ["{{/message/data/a}}", "and {{/message/data/b}}", 3],
      "map": {"id": "one", "agent": "a", "input": "{{/item}}"}})",
          of_data(R"({"a": {"n": 1}, "b": "b"})"));
  run.turn();
  CHECK(run.begun == Words{R"(p[0]/one={"n": 1})", "p[1]/one=and b", "p[2]/one=3"});
}

TEST_CASE("PlanRun: the filled list of a map counts in the run's memory") {
  std::string list;
  for (int n = 0; n < 20; ++n) list += std::string(n == 0 ? "" : ",") + R"("{{/message/data}}")";
  Run run(R"({"id": "p", "over": [)" + list + R"(], "map": {"id": "one", "agent": "a", "input": "go"}})",
          of_data('"' + std::string(10'000, 'x') + '"'));
  run.turn();
  CHECK(run.sources.bytes() > 20 * 10'000);
}

TEST_CASE("PlanRun: a map over a member of data that is named files goes over that member") {
  Run run(each_over("data/files"));
  run.turn();
  run.turn({run.done("p/list#1", "", R"({"files": ["a.csv", "b.csv"]})")});
  CHECK(run.begun == Words{"each[0]/one=item a.csv", "each[1]/one=item b.csv"});

  Run message(R"({"id": "p", "over": "/message/data/parts",
      "map": {"id": "inner", "over": "/item/files",
        "map": {"id": "one", "agent": "a", "input": "{{/item}}"}}})",
              of_data(R"({"parts": [{"files": [1]}, {"files": [2]}]})"));
  message.turn();
  CHECK(message.begun == Words{"p[0]/inner[0]/one=1", "p[1]/inner[0]/one=2"});
}

namespace {

// The branch that a route with `condition` takes for `data`: "yes" or "no"; or the error if it fails.
std::string decided(const std::string& condition, const std::string& data) {
  Run run(R"({"id": "p", "route": [{"when": )" + condition +
              R"(, "then": {"id": "yes", "agent": "a"}}, {"then": {"id": "no", "agent": "a"}}]})",
          of_data(data));
  const auto step = run.turn();
  if (!step.end) return step.begins.front().label;
  return step.end->text;
}

std::string when(const std::string& test) {
  return R"({"value": "/message/data/a", )" + test + "}";
}

}  // namespace

TEST_CASE("PlanRun: a text that is a number is compared as a number") {
  CHECK(decided(when(R"("greater": 9)"), R"({"a": "10"})") == "yes");
  CHECK(decided(when(R"("less": "9.5")"), R"({"a": " 9 "})") == "yes");
  CHECK(decided(when(R"("greater": 9)"), R"({"a": "9"})") == "no");
  CHECK(decided(when(R"("equals": 5)"), R"({"a": "5.0"})") == "yes");
  CHECK(decided(when(R"("one_of": [1, 5])"), R"({"a": "5"})") == "yes");
  CHECK(decided(when(R"("equals": "05")"), R"({"a": "5"})") == "no");
  CHECK(decided(when(R"("contains": 5)"), R"({"a": "room 12"})") == "no");
  CHECK(decided(when(R"("contains": 5)"), R"({"a": "room 15"})") == "yes");
}

TEST_CASE("PlanRun: large integers that differ by one are unequal, also in a text") {
  CHECK(decided(when(R"("greater": 1767225600000000000)"), R"({"a": 1767225600000000001})") == "yes");
  CHECK(decided(when(R"("less": "1767225600000000001")"), R"({"a": 1767225600000000000})") == "yes");
  CHECK(decided(when(R"("greater": 1767225600000000001)"), R"({"a": "1767225600000000001"})") == "no");
  CHECK(decided(when(R"("equals": 1767225600000000000)"), R"({"a": "1767225600000000001"})") == "no");
  CHECK(decided(when(R"("equals": 1767225600000000001)"), R"({"a": "1767225600000000001"})") == "yes");
}

TEST_CASE("PlanRun: a text that is true or false is compared as that") {
  CHECK(decided(when(R"("equals": true)"), R"({"a": "true\n"})") == "yes");
  CHECK(decided(when(R"("equals": true)"), R"({"a": "false"})") == "no");
  CHECK(decided(when(R"("equals": "false")"), R"({"a": false})") == "yes");
  CHECK(decided(when(R"("differs": false)"), R"({"a": "true"})") == "yes");
  CHECK(decided(when(R"("equals": false)"), "{}") == "no");
  CHECK(decided(when(R"("equals": true)"), R"({"a": 1})") == "no");
}

TEST_CASE("PlanRun: values that cannot be compared fail the step, and the error shows both") {
  CHECK(decided(when(R"("greater": 5)"), R"({"a": "many"})") ==
        "step p failed: /message/data/a is \"many\", which cannot be compared with 5");
  CHECK(decided(when(R"("less": 5)"), R"({"b": 1})") ==
        "step p failed: /message/data/a is nothing, which cannot be compared with 5");
  CHECK(decided(when(R"("contains": "x")"), R"({"a": {"x": 1}})") ==
        "step p failed: /message/data/a is {\"x\": 1}, which cannot be compared with \"x\"");
  // A plan that tests first whether the value exists does not fail.
  CHECK(decided(R"({"all": [{"value": "/message/data/a", "exists": true}, )" + when(R"("less": 5)") + "]}",
                "{}") == "no");
  CHECK(decided(when(R"("contains": "x")"), "{}") == "no");
}

TEST_CASE("PlanRun: pointers in the operands of a condition are filled in") {
  CHECK(decided(when(R"("equals": "{{/message/data/b}}")"), R"({"a": 3, "b": 3})") == "yes");
  CHECK(decided(when(R"("equals": "{{/message/data/b}}")"), R"({"a": 3, "b": 4})") == "no");
  CHECK(decided(when(R"("equals": "no {{/message/data/b}}")"), R"({"a": "no 4", "b": 4})") == "yes");
  CHECK(decided(when(R"("one_of": ["{{/message/data/b}}"])"), R"({"a": [1], "b": [1.0]})") == "yes");
  CHECK(decided(when(R"("one_of": "{{/message/data/b}}")"), R"({"a": 2, "b": [1, 2]})") == "yes");
  CHECK(decided(R"({"value": "{{/message/data/a}}", "greater": "{{/message/data/b}}"})",
                R"({"a": 3, "b": 2})") == "yes");
}

TEST_CASE("PlanRun: a pointer between braces keeps the blanks in a member's name") {
  const char* const data = R"({"a": "Ada", "first name": "Ada"})";
  CHECK(decided(when(R"("equals": "{{ /message/data/first name }}")"), data) == "yes");
  CHECK(decided(R"({"value": "{{/message/data/first name}}", "equals": "Ada"})", data) == "yes");
  CHECK(decided(when(R"("equals": "{{/message/data/first name}}!")"),
                R"({"a": "Ada!", "first name": "Ada"})") == "yes");
}

TEST_CASE("PlanRun: a pointer to one file of a list gives that file alone") {
  task::Message message = saying("two files");
  for (const char* name : {"a.csv", "b.csv"})
    message.parts.push_back({task::Part::Kind::url, std::string("x:") + name, name, {}, {}});
  const auto files_of = [&](const std::string& pointers) {
    Run run(R"({"id": "p", "agent": "a", "input": {"files": [)" + pointers + "]}}", message);
    const auto step = run.turn();
    Words names;
    for (const task::Part& part : step.begins.at(0).message.parts) names.push_back(part.filename);
    return names;
  };
  CHECK(files_of(R"("/message/files/0")") == Words{"a.csv"});
  CHECK(files_of(R"("/message/files/1", "/message/files/0")") == Words{"b.csv", "a.csv"});
  CHECK(files_of(R"("/message/files")") == Words{"a.csv", "b.csv"});
  CHECK(files_of(R"("/message/parts/1")") == Words{"a.csv"});
}

TEST_CASE("PlanRun: outside a map, a pointer to a step in it gives the result for the last item") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "each", "over": [1, 2], "map": {"id": "one", "agent": "a"}},
      {"id": "then", "agent": "a", "input": "last: {{/steps/one/text}}"}]})");
  run.turn();
  run.turn({run.done("p/each[0]/one#1", "first"), run.done("p/each[1]/one#1", "second")});
  CHECK(run.begun == Words{"then=last: second"});
}

TEST_CASE("PlanRun: before a loop's first round, /iteration in its condition is 0") {
  Run run(R"({"id": "p", "max": 5, "while": {"value": "/iteration", "less": 1},
      "loop": {"id": "body", "agent": "a", "input": "{{/iteration}}"}})");
  run.turn();
  CHECK(run.begun == Words{"p[0]/body=0"});
  run.turn({run.done("p[0]/body#1")});
  CHECK(run.begun == Words{"p[1]/body=1"});
  CHECK(run.turn({run.done("p[1]/body#1")}).end);

  // In a loop within a loop it is not the round of the outer one.
  Run inner(R"({"id": "p", "max": 2, "until": {"value": "/iteration", "equals": 1},
      "loop": {"id": "inner", "max": 1, "while": {"value": "/iteration", "equals": 0},
        "loop": {"id": "body", "agent": "a", "input": "x"}}})");
  inner.turn();
  inner.turn({inner.done("p[0]/inner[0]/body#1")});
  CHECK(inner.begun == Words{"p[1]/inner[0]/body=x"});
}

TEST_CASE("PlanRun: conditions and texts see the names and types of files") {
  const auto taken = [](const std::string& test, const task::Message& message) {
    Run run(R"({"id": "p", "sequence": [{"id": "make", "agent": "a"}, {"id": "way", "route": [
        {"when": )" +
                test + R"(, "then": {"id": "yes", "agent": "a", "input": "{{/message/files/0/name}}"}},
        {"then": {"id": "no", "agent": "a", "input": "{{/message/files}}{{/steps/make/files}}"}}]}]})",
            message);
    run.turn();
    run.turn({run.done("p/make#1", "made", R"({"n": 1})")});
    return run.begun.at(0);
  };
  task::Message files = saying("a file");
  files.parts.push_back({task::Part::Kind::url, "x:a", "a.csv", "text/csv", {}});
  const std::string has_file = R"({"value": "/message/files/0", "exists": true})";
  CHECK(taken(has_file, files) == "way/yes=a.csv");
  CHECK(taken(has_file, saying("none")) == R"(way/no=[{"data":{"n": 1}}])");
  CHECK(taken(R"({"value": "/message/files", "exists": true})", saying("none")).starts_with("way/no"));
  CHECK(taken(R"({"value": "/message/files/0/mediaType", "equals": "text/csv"})", files) == "way/yes=a.csv");
  CHECK(taken(R"({"value": "/message/parts/0/text", "equals": "a file"})", files) == "way/yes=a.csv");
  CHECK(taken(R"({"value": "/steps/make/files/0/data/n", "equals": 1})", files) == "way/yes=a.csv");
  CHECK(taken(R"({"value": "/steps/make/files/1", "exists": true})", saying("none")).starts_with("way/no"));
}

TEST_CASE("PlanRun: steps that end in the same turn keep their own end times") {
  Run run(R"({"id": "p", "parallel": [{"id": "x", "agent": "a"}, {"id": "y", "agent": "a"}]})");
  run.turn();
  run.now = at(200);
  const auto quick = run.done("p/y#1");
  run.now = at(1'400);
  auto slow = run.done("p/x#1");
  run.now = at(1'500);
  // The clock of another node is ahead.
  slow.task->status.at = at(9'000);
  run.turn({slow, quick});
  CHECK(run.facts.attempts("p/y")->ended == at(200));
  CHECK(run.facts.attempts("p/x")->ended == at(1'500));
}

TEST_CASE("PlanRun: when no child is left in the budget, finished steps are undone outside the budget") {
  Run run(kReserve);
  run.budget.children = 2;
  run.turn();
  run.turn({run.done("p/hotel#1", "room 5")});
  const auto step = run.turn({run.done("p/then#1")});
  REQUIRE_FALSE(step.end);
  CHECK(run.begun == Words{"hotel/undo=undo room 5"});
  REQUIRE(step.begins.at(0).budget);
  CHECK(step.begins.at(0).budget->children == 1);
  CHECK(failure(run.turn({run.done("p/hotel/undo#1")})) ==
        "the task's budget allows at most 2 tasks below it (max_children)");
}

TEST_CASE("PlanRun: when the budget's tokens or time are used up, finished steps are undone") {
  for (const bool by_time : {false, true}) {
    Run run(kReserve);
    if (by_time) run.budget.until = at(2'000);
    if (!by_time) run.budget.tokens = 100;
    run.turn();
    run.turn({run.done("p/hotel#1")});
    run.now = at(2'000);
    run.taken.tokens = 500;
    auto step = run.turn();
    // The running step is canceled. It could still end as done.
    CHECK(step.cancels == Words{"p/then#1"});
    CHECK(step.until == at(62'000));
    step = run.turn({run.failed("p/then#1", "canceled")});
    CHECK(run.begun == Words{"hotel/undo=undo ok"});
    CHECK(step.begins.at(0).budget->until == at(62'000));
    step = run.turn({run.failed("p/hotel/undo#1", "no desk")});
    CHECK(failure(step) == std::string(by_time ? "the task exceeded its time limit (max_wall_s)"
                                               : "more than 100 tokens used (max_tokens)") +
                               "; step hotel could not be undone: step hotel/undo (agent a) failed: no desk");
  }
}

TEST_CASE("PlanRun: the error names steps that were not undone within the grace period") {
  Run run(kReserve);
  run.budget.until = at(2'000);
  run.turn();
  run.turn({run.done("p/hotel#1")});
  run.now = at(2'000);
  run.turn();
  run.turn({run.failed("p/then#1", "canceled")});
  run.now = at(62'000);
  const auto step = run.turn();
  CHECK(step.cancels == Words{"p/hotel/undo#1"});
  CHECK(failure(step) ==
        "the task exceeded its time limit (max_wall_s); step hotel could not be undone: step hotel/undo "
        "(agent a) was canceled: it was no longer needed");
}

TEST_CASE("PlanRun: a compensation is not tried again after the grace period") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "hotel", "agent": "a", "compensate": {"id": "undo", "agent": "a", "retry": {"count": 3}}},
      {"id": "then", "agent": "a"}]})");
  run.budget.until = at(2'000);
  run.turn();
  run.turn({run.done("p/hotel#1")});
  run.now = at(2'000);
  run.turn();
  run.turn({run.failed("p/then#1", "canceled")});
  run.now = at(61'500);
  run.turn({run.failed("p/hotel/undo#1", "closed")});
  run.now = at(63'000);
  const auto step = run.turn();
  CHECK(step.begins.empty());
  CHECK(failure(step) ==
        "the task exceeded its time limit (max_wall_s); step hotel could not be undone: it ran out of time "
        "(engine.undo_grace_s)");
}

TEST_CASE("PlanRun: with nothing to undo, a used-up budget ends the run at once") {
  Run run(R"({"id": "p", "sequence": [{"id": "x", "agent": "a"}, {"id": "y", "agent": "a"}]})");
  run.budget.until = at(2'000);
  run.turn();
  run.now = at(2'000);
  const auto step = run.turn();
  CHECK(step.cancels == Words{"p/x#1"});
  CHECK(failure(step) == "the task exceeded its time limit (max_wall_s)");
}

namespace {

const char* const kRace = R"({"id": "p", "sequence": [
    {"id": "race", "join": "any", "parallel": [
      {"id": "x", "agent": "a", "input": "x",
       "compensate": {"id": "undo-x", "agent": "a", "input": "undo {{/steps/x/text}}"}},
      {"id": "y", "agent": "a", "input": "y",
       "compensate": {"id": "undo-y", "agent": "a", "input": "undo {{/steps/y/text}}"}}]},
    {"id": "then", "agent": "a", "input": "after {{/steps/race/text}}"}]})";

}  // namespace

TEST_CASE("PlanRun: a losing branch that ends as done after its cancel is undone and does not count") {
  Run run(kRace);
  run.turn();
  auto step = run.turn({run.done("p/race/x#1", "won")});
  CHECK(step.cancels == Words{"p/race/y#1"});
  CHECK(run.begun == Words{"then=after won"});
  run.turn({run.done("p/race/y#1", "late")});
  CHECK(run.begun == Words{"race/y/undo-y=undo late"});
  // The run waits for its compensations.
  step = run.turn({run.done("p/then#1")});
  CHECK_FALSE(step.end);
  step = run.turn({run.failed("p/race/y/undo-y#1", "too late")});
  CHECK((step.end && step.end->failure.empty()));
  CHECK(step.not_undone ==
        Words{"step race/y could not be undone: step race/y/undo-y (agent a) failed: too late"});
}

TEST_CASE("PlanRun: of two branches done in the same turn the first one wins") {
  Run run(kRace);
  run.turn();
  run.turn({run.done("p/race/y#1", "second"), run.done("p/race/x#1", "first")});
  std::ranges::sort(run.begun);
  CHECK(run.begun == Words{"race/y/undo-y=undo second", "then=after first"});
}

TEST_CASE("PlanRun: after a failure, a loser's compensation runs to its end before the winner's begins") {
  Run run(kRace);
  run.turn();
  run.turn({run.done("p/race/x#1", "won")});
  run.turn({run.done("p/race/y#1", "late")});
  auto step = run.turn({run.failed("p/then#1", "no")});
  CHECK(step.cancels.empty());
  CHECK(run.begun.empty());
  run.turn({run.done("p/race/y/undo-y#1")});
  CHECK(run.begun == Words{"race/x/undo-x=undo won"});
  CHECK(failure(run.turn({run.done("p/race/x/undo-x#1")})) == "step then (agent a) failed: no");
}

TEST_CASE("PlanRun: once a join is decided no further branch begins, so the budget cannot refuse it") {
  const std::string start = R"({"id": "p", "sequence": [{"id": "m", "over": [1, 2, 3], "concurrency": 1, )";
  const std::string rest = R"("map": {"id": "one", "agent": "a"}}]})";
  for (const std::string join : {R"("any")", R"("all")", R"({"n_of": 1})"}) {
    CAPTURE(join);
    Run run(start + R"("join": )" + join + R"(, "on_failure": "continue", )" + rest);
    run.budget.children = 1;
    run.turn();
    const bool wins = join != R"("all")";
    const auto step = run.turn({wins ? run.done("p/m[0]/one#1") : run.failed("p/m[0]/one#1", "no")});
    REQUIRE(step.end);
    CHECK(step.end->failure.empty());
    CHECK(run.facts.attempts("p/m[1]/one") == nullptr);
  }
}

TEST_CASE("PlanRun: finished steps of a failed branch are undone when another branch wins") {
  Run run(R"({"id": "p", "join": "any", "parallel": [
      {"id": "trip", "sequence": [
        {"id": "book", "agent": "a", "compensate": {"id": "undo", "agent": "a", "input": "undo"}},
        {"id": "pay", "agent": "a"}]},
      {"id": "other", "agent": "a"}]})");
  run.turn();
  run.turn({run.done("p/trip/book#1")});
  run.turn({run.failed("p/trip/pay#1", "no money")});
  const auto step = run.turn({run.done("p/other#1")});
  CHECK_FALSE(step.end);
  CHECK(run.begun == Words{"trip/book/undo=undo"});
  CHECK(run.turn({run.done("p/trip/book/undo#1")}).end);
}

namespace {

const char* const kHalfDone = R"({"id": "p", "sequence": [
    {"id": "hotel", "agent": "a", "compensate": {"id": "undo", "agent": "a", "input": "undo"}},
    {"id": "car", "agent": "a", "on_failure": "compensate",
     "compensate": {"id": "return", "agent": "a", "input": "return"}}]})";

}  // namespace

TEST_CASE("PlanRun: after a cancel, a failed step that undoes itself ends that before others are undone") {
  Run run(kHalfDone);
  run.turn();
  run.turn({run.done("p/hotel#1")});
  run.turn({run.failed("p/car#1", "flat tyre")});
  CHECK(run.begun == Words{"car/return=return"});
  run.canceled = true;
  auto step = run.turn();
  CHECK(step.cancels.empty());
  CHECK(run.begun.empty());
  CHECK_FALSE(step.end);
  run.turn({run.failed("p/car/return#1", "closed")});
  CHECK(run.begun == Words{"hotel/undo=undo"});
  step = run.turn({run.done("p/hotel/undo#1")});
  CHECK(failure(step) == "step car could not be undone: step car/return (agent a) failed: closed");
}

TEST_CASE("PlanRun: a step that fails in the turn in which the run is given up undoes itself") {
  for (const bool is_canceled : {true, false}) {
    CAPTURE(is_canceled);
    Run run(kHalfDone);
    run.turn();
    run.turn({run.done("p/hotel#1")});
    run.canceled = is_canceled;
    if (!is_canceled) run.budget.tokens = 100;
    run.taken.tokens = 500;
    const auto step = run.turn({run.failed("p/car#1", "flat tyre")});
    CHECK(run.begun == Words{"car/return=return"});
    REQUIRE(step.begins.size() == 1);
    CHECK(step.begins.front().undoes);
    run.turn({run.done("p/car/return#1")});
    CHECK(run.begun == Words{"hotel/undo=undo"});
    const auto last = run.turn({run.done("p/hotel/undo#1")});
    REQUIRE(last.end);
    CHECK(last.end->failure == (is_canceled ? "canceled" : "budget"));
  }
}

TEST_CASE("PlanRun: after a cancel, a step that was refused its child has nothing to undo") {
  Run run(kHalfDone);
  run.turn();
  auto step = run.turn({run.done("p/hotel#1")});
  REQUIRE(step.begins.size() == 1);
  CHECK_FALSE(step.begins.front().undoes);
  run.canceled = true;
  run.turn({DelegateResult{"p/car#1", std::nullopt, "the task is being canceled", 0, 0}});
  CHECK(run.begun == Words{"hotel/undo=undo"});
  step = run.turn({DelegateResult{"p/hotel/undo#1", std::nullopt, "agent not found", 0, 0}});
  CHECK(failure(step) == "step hotel could not be undone: step hotel/undo (agent a) failed: agent not found");
}

namespace {

std::string trip_in(const std::string& start, const std::string& end, const std::string& more = {}) {
  return start + R"({"id": "trip", "compensate": {"id": "undo", "agent": "a", "input": "undo"}, )" + more +
         R"("sequence": [{"id": "x", "agent": "a"}, {"id": "y", "agent": "a"}]})" + end;
}

constexpr char kSequence[] = R"({"id": "p", "sequence": [)";
constexpr char kThen[] = R"(, {"id": "then", "agent": "a"}]})";
constexpr char kUndoesItself[] = R"("on_failure": "compensate", )";

}  // namespace

TEST_CASE("PlanRun: a sequence that completes in the turn in which the run is canceled is undone") {
  Run run(trip_in(kSequence, kThen));
  run.turn();
  run.turn({run.done("p/trip/x#1")});
  run.canceled = true;
  run.turn({run.done("p/trip/y#1")});
  CHECK(run.begun == Words{"trip/undo=undo"});
  CHECK(run.turn({run.done("p/trip/undo#1")}).end);
}

TEST_CASE("PlanRun: a sequence is undone if its canceled last step completes, or if it had failed before") {
  const auto canceled_in_y = [](Run& run) {
    run.turn();
    run.turn({run.done("p/trip/x#1")});
    run.canceled = true;
    CHECK(run.turn().cancels == Words{"p/trip/y#1"});
  };
  Run late(trip_in(kSequence, kThen));
  canceled_in_y(late);
  late.turn({late.done("p/trip/y#1")});
  CHECK(late.begun == Words{"trip/undo=undo"});
  for (const bool undoes_itself : {false, true}) {
    CAPTURE(undoes_itself);
    const std::string text = trip_in(kSequence, kThen, undoes_itself ? kUndoesItself : "");
    Run stopped(text);
    canceled_in_y(stopped);
    CHECK(stopped.turn({stopped.failed("p/trip/y#1", "stopped")}).end);
    CHECK(stopped.begun.empty());
    Run failed(text);
    failed.turn();
    failed.turn({failed.done("p/trip/x#1")});
    failed.canceled = true;
    CHECK(failed.turn({failed.failed("p/trip/y#1", "full")}).end.has_value() == !undoes_itself);
    CHECK(failed.begun == (undoes_itself ? Words{"trip/undo=undo"} : Words{}));
  }
}

TEST_CASE("PlanRun: a step around one that has undone itself without a child undoes itself, too") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "trip", "on_failure": "compensate", "compensate": {"id": "undo", "agent": "a", "input": "undo"},
       "sequence": [{"id": "x", "agent": "a", "on_failure": "compensate",
                     "compensate": {"id": "rest", "wait": {"seconds": 0}}}]},
      {"id": "then", "agent": "a"}]})");
  run.turn();
  run.canceled = true;
  CHECK_FALSE(run.turn({run.failed("p/trip/x#1", "full")}).end);
  CHECK(run.begun == Words{"trip/undo=undo"});
  CHECK(run.turn({run.done("p/trip/undo#1")}).end);
}

TEST_CASE("PlanRun: a sequence that has lost and completes in spite of its cancel is undone") {
  Run run(trip_in(R"({"id": "p", "join": "any", "parallel": [)", R"(, {"id": "other", "agent": "a"}]})"));
  run.turn();
  run.turn({run.done("p/trip/x#1")});
  auto step = run.turn({run.done("p/other#1")});
  CHECK(step.cancels == Words{"p/trip/y#1"});
  step = run.turn({run.done("p/trip/y#1")});
  CHECK_FALSE(step.end);
  CHECK(run.begun == Words{"trip/undo=undo"});
  CHECK(run.turn({run.done("p/trip/undo#1")}).end);
}

TEST_CASE("PlanRun: a step of a compensation is not undone, although it has a compensation") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "hotel", "agent": "a", "compensate": {"id": "undo", "sequence": [
        {"id": "refund", "agent": "a", "input": "refund",
         "compensate": {"id": "charge", "agent": "a", "input": "charge"}},
        {"id": "tell", "agent": "a", "input": "tell"}]}},
      {"id": "then", "agent": "a"}]})");
  run.turn();
  run.turn({run.done("p/hotel#1")});
  run.turn({run.failed("p/then#1", "no")});
  CHECK(run.begun == Words{"hotel/undo/refund=refund"});
  run.turn({run.done("p/hotel/undo/refund#1")});
  CHECK(run.begun == Words{"hotel/undo/tell=tell"});
  CHECK(run.turn({run.done("p/hotel/undo/tell#1")}).end);
}

TEST_CASE("PlanRun: an iteration that completes in the turn in which the run is canceled is undone") {
  Run run(trip_in(R"({"id": "p", "over": [1, 2], "map": )", "}"));
  run.turn();
  run.turn({run.done("p[1]/trip/x#1")});
  run.canceled = true;
  auto step = run.turn({run.done("p[1]/trip/y#1")});
  CHECK(step.cancels == Words{"p[0]/trip/x#1"});
  run.turn({run.failed("p[0]/trip/x#1", "stopped")});
  CHECK(run.begun == Words{"p[1]/trip/undo=undo"});
}

TEST_CASE("PlanRun: the error says once that a failed step could not undo itself") {
  Run run(kHalfDone);
  run.turn();
  run.turn({run.done("p/hotel#1")});
  run.turn({run.failed("p/car#1", "flat tyre")});
  run.turn({run.failed("p/car/return#1", "closed")});
  CHECK(
      failure(run.turn({run.done("p/hotel/undo#1")})) ==
      "step car (agent a) failed: flat tyre; step car could not be undone: step car/return (agent a) failed: "
      "closed");
}

TEST_CASE("PlanRun: a failed branch that undoes itself ends that when another branch decides the join") {
  const std::string branches = R"("parallel": [
      {"id": "x", "agent": "a", "on_failure": "compensate",
       "compensate": {"id": "undo", "agent": "a", "input": "undo"}},
      {"id": "y", "agent": "a"}]})";
  for (const bool wins : {true, false}) {
    CAPTURE(wins);
    Run run(std::string(R"({"id": "p", "join": ")") + (wins ? "any" : "all") + "\", " + branches);
    run.turn();
    run.turn({run.failed("p/x#1", "no")});
    CHECK(run.begun == Words{"x/undo=undo"});
    auto step = run.turn({wins ? run.done("p/y#1") : run.failed("p/y#1", "full")});
    CHECK(step.cancels.empty());
    CHECK_FALSE(step.end);
    CHECK(step.need == 1);
    step = run.turn({run.done("p/x/undo#1")});
    REQUIRE(step.end);
    CHECK(step.end->text == (wins ? "" : "step y (agent a) failed: full"));
  }
}

TEST_CASE("PlanRun: an input that is too large fails its step without retry, and finished steps are undone") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "hotel", "agent": "a", "compensate": {"id": "undo", "agent": "a", "input": "undo"}},
      {"id": "big", "agent": "a", "input": "{{/message/text}}{{/message/text}}", "retry": {"count": 3}}]})",
          saying(std::string(600, 'x')));
  run.fill_max = 1'000;
  run.turn();
  // This turn has filled in as much as it may, so the run continues in another turn at once.
  auto step = run.turn({run.done("p/hotel#1")});
  CHECK(step.until == run.now);
  run.turn();
  CHECK(run.begun == Words{"hotel/undo=undo"});
  step = run.turn({run.done("p/hotel/undo#1")});
  CHECK(failure(step) ==
        "step big (agent a) failed: more than 1000 bytes of values for one step (limits.plan_fill_max)");
}

TEST_CASE("PlanRun: a step that no agent had the skill for does not begin after the plan has gone on") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "x", "agent": {"skill": "s"}, "on_failure": "continue"}, {"id": "y", "agent": "a"}]})");
  run.turn();
  CHECK(run.begun == Words{"y=go"});
  run.skilled = "b";
  const auto step = run.turn({run.done("p/y#1")});
  CHECK(run.begun.empty());
  CHECK((step.end && step.end->failure.empty()));
}

TEST_CASE("PlanRun: a step that no agent has the skill for is tried again as its retry says") {
  Run run(
      R"({"id": "p", "agent": {"skill": "s"}, "retry": {"count": 2, "delay_s": 1, "on": ["unavailable"]}})");
  CHECK(run.turn().until == at(1'000));
  run.now = at(1'000);
  CHECK(run.turn().until == at(3'000));
  run.skilled = "b";
  run.now = at(3'000);
  auto step = run.turn();
  CHECK(run.begun == Words{"p=go"});
  CHECK(step.begins.at(0).id == "p#3");

  Run never(R"({"id": "p", "agent": {"skill": "s"}, "retry": {"count": 2, "delay_s": 0}})");
  step = never.turn();
  CHECK(failure(step) == "step p (skill s) failed: no agent has the skill \"s\"");
}

TEST_CASE("PlanRun: an output that is too large fails the run, and finished steps are undone") {
  Run run(R"({"id": "p", "agent": "a", "input": "x", "output": "{{/message/text}}",
      "compensate": {"id": "undo", "agent": "a", "input": "undo"}})",
          saying(std::string(2'000, 'x')));
  run.fill_max = 1'000;
  run.turn();
  run.turn({run.done("p#1")});
  run.turn();
  CHECK(run.begun == Words{"undo=undo"});
  CHECK(failure(run.turn({run.done("p/undo#1")})) ==
        "the plan's output cannot be built: more than 1000 bytes of values for one step "
        "(limits.plan_fill_max)");
}

TEST_CASE("PlanRun: steps whose inputs are large together begin in several turns without a pause") {
  Run run(R"({"id": "p", "over": [1, 2, 3, 4, 5], "concurrency": 5,
      "map": {"id": "one", "agent": "a", "input": "{{/message/text}}"}})",
          saying(std::string(600, 'x')));
  run.fill_max = 1'000;
  std::size_t most = 0;
  int turns = 0;
  for (auto step = run.turn(); run.begun_in_all < 5 && turns < 10; step = run.turn(), ++turns) {
    most = std::max(most, step.begins.size());
    CHECK(step.until == run.now);
  }
  CHECK(most == 2);
  CHECK(run.begun_in_all == 5);
}

TEST_CASE("PlanRun: steps that are given the names of large files begin in several turns") {
  Run run(R"({"id": "p", "sequence": [
      {"id": "way", "route": [{"then": {"id": "make", "agent": "a"}}]},
      {"id": "each", "over": [1, 2, 3, 4, 5],
       "map": {"id": "one", "agent": "a", "input": "{{/steps/way/files/0/name}}"}}]})");
  run.fill_max = 1'000;
  run.turn();
  const DelegateResult made = run.done("p/way/make#1");
  run.children["p/way/make#1"].artifacts.front().parts.push_back(
      {task::Part::Kind::raw, std::string(600, 'A'), "a.bin", {}, {}});
  auto step = run.turn({made});
  CHECK(run.begun == Words{"each[0]/one=a.bin", "each[1]/one=a.bin"});
  CHECK(step.until == run.now);
  run.turn();
  CHECK(run.begun == Words{"each[2]/one=a.bin", "each[3]/one=a.bin"});
  run.turn();
  CHECK(run.begun == Words{"each[4]/one=a.bin"});
}

TEST_CASE("PlanRun: steps that need no child are decided in several turns if they are many") {
  std::string lists;
  for (int n = 0; n < 500; ++n) lists += std::string(n == 0 ? "" : ",") + "[1,2,3,4,5,6,7,8,9,10]";
  Run run(R"({"id": "p", "over": "/message/data", "map": {"id": "inner", "over": "/item", "map":
      {"id": "both", "sequence": [
        {"id": "way", "route": [
          {"when": {"value": "/item", "equals": 0}, "then": {"id": "one", "agent": "a"}}]},
        {"id": "pause", "wait": {"seconds": 0}}]}}})",
          of_data("[" + lists + "]"));
  std::size_t records = 0;
  int turns = 1;
  auto step = run.turn();
  for (; !step.end && turns < 10; step = run.turn(), ++turns) {
    CHECK(step.records.size() < 11'000);
    CHECK(step.until == run.now);
    records += step.records.size();
  }
  records += step.records.size();
  CHECK(turns > 1);
  CHECK((step.end && step.end->failure.empty()));
  // One for the plan, two for each map, and three for each item.
  CHECK(records == 1 + 2 * 501 + 3 * 5'000);
}

TEST_CASE("PlanRun: a turn that is no longer wanted stops in the middle") {
  std::string list = "[0";
  for (int n = 1; n < 2'000; ++n) list += "," + std::to_string(n);
  Run run(R"({"id": "p", "over": "/message/data", "max": 10000, "concurrency": 2000,
      "map": {"id": "one", "agent": "a", "input": "{{/item}} of {{/message/data/7}}"}})",
          of_data(list + "]"));
  run.wanted_until = 100;
  CHECK(run.turn().is_left);
  CHECK(run.asked < 110);
}

TEST_CASE("PlanRun: a turn that is stopped while it reads a list leaves no items to the next turn") {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  int left = 0;
  for (const std::string list : {"x/text", "lists/results"}) {
    for (std::int64_t looks = 1;; ++looks) {
      Run run(R"({"id": "p", "sequence": [
          {"id": "lists", "parallel": [{"id": "x", "agent": "a"}, {"id": "y", "agent": "a"}]},
          {"id": "each", "over": "/steps/)" +
              list + R"(", "map": {"id": "one", "agent": "a", "input": "{{/index}}"}}]})");
      run.turn();
      const auto before = run.facts;
      const std::vector results{run.done("p/lists/x#1", "[1, 2]"), run.done("p/lists/y#1")};
      run.wanted_until = run.asked + looks;
      const bool is_left = run.turn(results).is_left;
      left += is_left ? 1 : 0;
      run.wanted_until = kNever;
      run.facts = before;
      run.turn(results);
      CHECK(run.begun == Words{"each[0]/one=0", "each[1]/one=1"});
      if (!is_left) break;
    }
  }
  CHECK(left > 4);
}

TEST_CASE("PlanRun: a list that is too large for one step fails its map with that reason") {
  Run run(each_over("text"));
  run.fill_max = 1'000;
  run.turn();
  const auto step = run.turn({run.done("p/list#1", "[\"" + std::string(2'000, 'x') + "\"]")});
  CHECK(failure(step) ==
        "step each failed: more than 1000 bytes of values for one step (limits.plan_fill_max)");
}

TEST_CASE(
    "PlanRun: a result that cannot be read fails the step that needs it, or the plan whose answer it is") {
  const base::Error fault{base::ErrorCode::too_large, "the task is too large", {}};
  for (const std::string input : {R"("{{/steps/one/text}}")", R"({"data": ["{{/steps/one/data/n}}"]})",
                                  R"({"files": ["/steps/one/files"]})"}) {
    CAPTURE(input);
    Run run(R"({"id": "p", "sequence": [{"id": "one", "agent": "a"},
        {"id": "two", "agent": "b", "input": )" +
            input + "}]}");
    run.turn();
    run.unread["p/one#1"] = fault;
    CHECK(failure(run.turn({run.done("p/one#1")})) ==
          "step two (agent b) failed: the result of step one cannot be read: the task is too large");
  }
  Run answers(R"({"id": "p", "sequence": [{"id": "one", "agent": "a"}]})");
  answers.turn();
  answers.unread["p/one#1"] = fault;
  CHECK(failure(answers.turn({answers.done("p/one#1")})) ==
        "the plan's answer cannot be built: the result of step one cannot be read: the task is too large");
}

namespace {

struct Work {
  std::int64_t asked = 0;
  int reads = 0;
};

// Runs a map over `items` items whose inputs point into the message, and then a second map over them whose
// inputs point to all results of the first. Counts the work.
Work work_of(int items) {
  std::string list;
  for (int n = 0; n < items; ++n) list += (n == 0 ? "" : ",") + std::to_string(n);
  Run run(R"({"id": "p", "sequence": [
      {"id": "each", "over": "/message/data/list", "max": 10000, "concurrency": 2000,
       "map": {"id": "one", "agent": "a", "input": "{{/item}} {{/message/data/k}} {{/message/data/list/3}}"}},
      {"id": "again", "over": "/message/data/list", "max": 10000, "concurrency": 2000,
       "map": {"id": "two", "agent": "a",
               "input": {"data": ["{{/steps/each/results/2/text}}", "{{/steps/each/data/n}}"]}}}]})",
          of_data(R"({"k": "v", "list": [)" + list + "]}"));
  run.turn();
  std::vector<DelegateResult> results;
  for (int n = 0; n < items; ++n)
    results.push_back(run.done("p/each[" + std::to_string(n) + "]/one#1", "t", R"({"n": 1})"));
  const auto step = run.turn(results);
  CHECK(std::ssize(step.begins) == items);
  CHECK(step.begins.back().message.parts.front().content == R"(["t",1])");
  return {run.asked, run.reads};
}

}  // namespace

TEST_CASE("PlanRun: the work for a list's items, pointers and children is linear in the list's length") {
  const Work one = work_of(250), four = work_of(1'000);
  CHECK(four.asked < 5 * one.asked);
  CHECK(one.reads == 250);
  CHECK(four.reads == 1'000);
}

TEST_CASE("PlanSources: the message and a child's data are parsed once") {
  agents::PlanSources sources(of_data(R"({"a": 1})"));
  CHECK(sources.message_data().owner.get() == sources.message_data().owner.get());
  int reads = 0;
  const auto read = [&](const std::string&) -> base::Result<task::Task> {
    ++reads;
    task::Task child;
    child.artifacts.emplace_back().parts.push_back(task::Part::of_data({"[1, 2]"}));
    return child;
  };
  const auto* data = sources.child("x#1", read)->data().owner.get();
  CHECK(sources.child("x#1", read)->data().owner.get() == data);
  CHECK(reads == 1);
}

}  // namespace plan_run_test
