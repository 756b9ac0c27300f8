#include "agents/plan/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

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
