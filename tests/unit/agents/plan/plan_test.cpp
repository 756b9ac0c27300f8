#include "agents/plan/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace plan_test {
namespace {

using namespace baton;

// The problems found in the plan, one per line. In the plan and in the result, ' stands for ".
std::string problems_of(std::string plan) {
  std::ranges::replace(plan, '\'', '"');
  std::vector<json::SchemaProblem> problems;
  agents::read_plan(plan, "/plan", problems);
  std::string lines;
  for (const json::SchemaProblem& one : problems) lines += one.pointer + ": " + one.reason + "\n";
  std::ranges::replace(lines, '"', '\'');
  return lines;
}

// A step with the id `id` whose input is the text of the step `of`.
std::string reads(const std::string& id, const std::string& of, const std::string& more = "") {
  return "{'id':'" + id + "','agent':'x','input':'{{/steps/" + of + "/text}}'" + more + "}";
}
std::string plain(const std::string& id, const std::string& more = "") {
  return "{'id':'" + id + "','agent':'x','input':'go'" + more + "}";
}
std::string sequence(const std::string& steps, const std::string& more = "") {
  return "{'sequence':[" + steps + "]" + more + "}";
}
std::string parallel(const std::string& steps, const std::string& more = "") {
  return "{'parallel':[" + steps + "]" + more + "}";
}

constexpr const char* kLater = "' names a step that starts only after this value is read\n";
constexpr const char* kMeanwhile = "' names a step that has not ended when this one starts\n";

}  // namespace

TEST_CASE("read_plan: a pointer to a step that comes later is refused") {
  CHECK(problems_of(sequence(reads("a", "b") + "," + plain("b"))) ==
        "/plan/sequence/0/input: '/steps/b/text" + std::string(kLater));
  CHECK(problems_of(sequence(parallel(plain("a") + "," + reads("b", "d")) + "," +
                             sequence(plain("c") + "," + plain("d")))) ==
        "/plan/sequence/0/parallel/1/input: '/steps/d/text" + std::string(kLater));
  CHECK(problems_of(sequence("{'route':[{'when':{'value':'/steps/b/data/n','equals':1},'then':" + plain("a") +
                             "}]}," + plain("b"))) ==
        "/plan/sequence/0/route/0/when/value: '/steps/b/data/n" + std::string(kLater));
  CHECK(problems_of(sequence("{'ask':'{{/steps/b/text}}?'}," + plain("b"))) ==
        "/plan/sequence/0/ask: '/steps/b/text" + std::string(kLater));
  CHECK(problems_of(sequence("{'wait':{'until':'{{/steps/b/text}}'}}," + plain("b"))) ==
        "/plan/sequence/0/wait/until: '/steps/b/text" + std::string(kLater));
  CHECK(problems_of("{'map':" + plain("a") + ",'over':'/steps/a/data'}") ==
        "/plan/over: '/steps/a/data" + std::string(kLater));
  CHECK(problems_of("{'loop':" + plain("a") + ",'max':2,'until':{'value':'/steps/a/text','equals':1}}") ==
        "");
}

TEST_CASE("read_plan: a pointer to a step that runs at the same time is refused") {
  for (const char* order : {"ab", "ba"}) {
    const std::string first = order[0] == 'a' ? reads("a", "b") : plain("b");
    const std::string second = order[0] == 'a' ? plain("b") : reads("a", "b");
    const std::string index = order[0] == 'a' ? "0" : "1";
    CHECK(problems_of(parallel(first + "," + second)) ==
          "/plan/parallel/" + index + "/input: '/steps/b/text" + kMeanwhile);
  }
  CHECK(problems_of(parallel(sequence(reads("a", "b") + "," + plain("c")) + "," + plain("b"))) ==
        "/plan/parallel/0/sequence/0/input: '/steps/b/text" + std::string(kMeanwhile));
}

TEST_CASE("read_plan: a pointer to another branch of a route, or to the step itself, is refused") {
  CHECK(problems_of("{'route':[{'when':{'skill':'s'},'then':" + reads("a", "b") + "},{'then':" + plain("b") +
                    "}]}") ==
        "/plan/route/0/then/input: '/steps/b/text' names a step in another branch of the route\n");
  CHECK(problems_of(reads("a", "a")) ==
        "/plan/input: '/steps/a/text' names the step itself, which has not ended when this value is read\n");
}

TEST_CASE("read_plan: a pointer to a compensation is refused before the step that it undoes") {
  const std::string undone = plain("b", ",'compensate':" + plain("undo"));
  CHECK(problems_of(sequence(reads("a", "undo") + "," + undone)) ==
        "/plan/sequence/0/input: '/steps/undo/text" + std::string(kLater));
  CHECK(problems_of(reads("b", "undo", ",'compensate':" + plain("undo"))) ==
        "/plan/input: '/steps/undo/text" + std::string(kLater));
  CHECK(problems_of(sequence(undone + "," + reads("c", "undo"))) == "");
}

TEST_CASE("read_plan: a pointer to a step that may have ended is accepted") {
  CHECK(problems_of(sequence(plain("a") + "," + reads("b", "a"), ",'output':'{{/steps/b/text}}'")) == "");
  // A step of the loop's iteration before.
  CHECK(problems_of("{'max':3,'while':{'value':'/iteration','less':2},'loop':" +
                    sequence(reads("a", "b") + "," + parallel(plain("b") + "," + reads("c", "b"))) + "}") ==
        "");
  // A compensation may read any step: the plan may fail at any time.
  CHECK(problems_of(sequence(plain("a", ",'compensate':" + reads("undo", "b")) + "," + plain("b"))) == "");
  // Branches that begin when the other branch may have ended.
  CHECK(problems_of(parallel(plain("a") + "," + reads("b", "a"), ",'concurrency':1")) == "");
  CHECK(problems_of(parallel(plain("a") + "," + sequence(plain("b") + "," + reads("c", "a")))) == "");
  CHECK(problems_of(parallel(plain("a") + "," + reads("b", "a", ",'retry':{'count':1}"))) == "");
  // A group of steps, some of which are done.
  CHECK(problems_of(sequence(plain("a") + "," + reads("b", "all"), ",'id':'all'")) == "");
  // Another branch's state, which exists while that branch runs.
  CHECK(problems_of(parallel(plain("a") + ",{'agent':'x','input':'{{/steps/a/state}}'}")) == "");
}

TEST_CASE("read_plan: files are those of the message or of a step") {
  const auto files = [](const std::string& pointer) {
    return problems_of(sequence(plain("a") + ",{'agent':'x','input':{'files':['" + pointer + "']}}"));
  };
  CHECK(files("/message/files") == "");
  CHECK(files("/steps/a/parts/12") == "");
  for (const char* pointer : {"/message/data/files", "/steps/a/data/files", "/steps/a/data/parts/0"}) {
    CHECK(files(pointer) == "/plan/sequence/1/input/files: '" + std::string(pointer) +
                                "' must be a list of files, such as /message/files, or one of them, such as "
                                "/message/files/0\n");
  }
}

TEST_CASE("read_plan: a pointer to an item or a round is refused outside a map or loop") {
  const auto uses = [](const std::string& pointer, const std::string& more = "") {
    return "{'agent':'x','input':'{{" + pointer + "}}'" + more + "}";
  };
  const std::string outside = "' has a value only within a ";
  CHECK(problems_of(uses("/item/name")) == "/plan/input: '/item/name" + outside + "map\n");
  CHECK(problems_of(uses("/index")) == "/plan/input: '/index" + outside + "map\n");
  CHECK(problems_of(uses("/iteration")) == "/plan/input: '/iteration" + outside + "loop\n");
  const std::string over = ",'over':'/message/data'",
                    rounds = ",'max':2,'while':{'value':'/iteration','less':1}";
  CHECK(problems_of("{'map':" + uses("/item/name", ",'compensate':" + uses("/index")) + over + "}") == "");
  CHECK(problems_of("{'loop':" + uses("/iteration") + rounds + "}") == "");
  CHECK(problems_of("{'map':" + plain("a") + over + ",'compensate':" + uses("/item") + "}") ==
        "/plan/compensate/input: '/item" + outside + "map\n");
  CHECK(problems_of("{'map':" + plain("a") + ",'over':'/item/list'}") ==
        "/plan/over: '/item/list" + outside + "map\n");
  CHECK(problems_of(sequence("{'map':" + plain("a") + over + "}", ",'output':'{{/item}}'")) ==
        "/plan/output: '/item" + outside + "map\n");
}

TEST_CASE("read_plan: a pointer into a text or a number is refused") {
  const auto uses = [](const std::string& pointer) {
    return problems_of("{'map':" + sequence(plain("a") + ",{'agent':'x','input':'{{" + pointer + "}}'}") +
                       ",'over':'/message/data'}");
  };
  CHECK(uses("/steps/a/text") == "");
  CHECK(uses("/steps/a/text/0") ==
        "/plan/map/sequence/1/input: '/steps/a/text/0' has no value, because "
        "/steps/a/text is a text\n");
  CHECK(uses("/message/text/x") ==
        "/plan/map/sequence/1/input: '/message/text/x' has no value, because "
        "/message/text is a text\n");
  CHECK(uses("/index/0") ==
        "/plan/map/sequence/1/input: '/index/0' has no value, because /index is a number\n");
}

TEST_CASE("read_plan: an item is a file only if the map goes over a list of files") {
  const auto over = [](const std::string& list) {
    return problems_of("{'map':{'agent':'x','input':{'files':['/item']}},'over':" + list + "}");
  };
  CHECK(over("'/message/files'") == "");
  for (const char* list : {"'/message/data/files'", "[1,2]"})
    CHECK(over(list) ==
          "/plan/map/input/files: '/item' is not a file, because the map goes over no list of files\n");
}

TEST_CASE("read_plan: pointers in the list of a map are checked") {
  const auto over = [](const std::string& pointer) {
    return problems_of(sequence("{'map':" + plain("a") + ",'over':['one','{{" + pointer + "}}']}"));
  };
  CHECK(over("/message/text") == "");
  CHECK(over("/steps/b/text") ==
        "/plan/sequence/0/over: '/steps/b/text' names a step that is not in the plan\n");
}

TEST_CASE("read_plan: a member that the step's kind does not have is refused, but a begun run keeps it") {
  const std::string only = " is only allowed for steps with ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {plain("a", ",'over':'/message/data','max':3"),
       "/plan/over:" + only + "a map\n/plan/max:" + only + "a loop or a map\n"},
      {sequence(plain("a"), ",'join':'any','concurrency':2"),
       "/plan/join:" + only + "parallel or a map\n/plan/concurrency:" + only + "parallel or a map\n"},
      {parallel(plain("a"), ",'until':{'skill':'s'},'while':{'skill':'s'}"),
       "/plan/while:" + only + "a loop\n/plan/until:" + only + "a loop\n"},
      {plain("a", ",'auth':true"), "/plan/auth:" + only + "a question\n"}};
  for (const auto& [plan, problems] : cases) {
    CHECK(problems_of(plan) == problems);
    std::string begun = plan;
    std::ranges::replace(begun, '\'', '"');
    CHECK(agents::read_begun_plan(begun) != nullptr);
  }
}

TEST_CASE("read_plan: a condition with several tests is refused, because only one would count") {
  const auto when = [](const std::string& condition) {
    return "{'route':[{'when':" + condition + ",'then':" + plain("a") + "}]}";
  };
  const std::string value = "'value':'/message/text','equals':'x'";
  CHECK(problems_of(when("{'all':[{'skill':'s'},{'tag':'t'},{'not':{" + value + "}}]}")) == "");
  for (const std::string both : {"'skill':'s','tag':'t'", "'all':[],'any':[]"}) {
    for (const std::string& condition : {"{" + both + "}", "{'skill':'s'," + value + "}"}) {
      CHECK(problems_of(when(condition)) ==
            "/plan/route/0/when: must have only one of value, all, any, not, skill and tag; 'all' combines "
            "conditions\n");
    }
  }
  // A run that has begun keeps it.
  std::string begun = when("{'skill':'s','tag':'t'}");
  std::ranges::replace(begun, '\'', '"');
  CHECK(agents::read_begun_plan(begun) != nullptr);
}

TEST_CASE("read_begun_plan: a run that has begun keeps pointers that a new card may not have") {
  std::string plan = sequence(reads("a", "b") + "," + plain("b"));
  std::ranges::replace(plan, '\'', '"');
  CHECK(agents::read_begun_plan(plan) != nullptr);
  CHECK(agents::read_begun_plan("{") == nullptr);
}

}  // namespace plan_test
