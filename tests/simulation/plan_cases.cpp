#include "plan_cases.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "json/document.h"

namespace baton::simulation {
namespace {

// The agent "leaf" (plan_agents.cpp) does the steps. Each input begins with one of its verbs.
const std::vector<std::pair<std::string, std::string>>& texts() {
  static const std::vector<std::pair<std::string, std::string>> kTexts{
      {"plan-joins", R"({"id": "p", "sequence": [
        {"id": "all", "concurrency": 2, "parallel": [
          {"id": "a", "agent": "leaf", "input": "say a"},
          {"id": "b", "agent": "leaf", "input": "slow b"},
          {"id": "c", "agent": "leaf", "input": "flaky 2 c", "retry": {"count": 3, "delay_s": 0.1}}]},
        {"id": "any", "join": "any", "parallel": [
          {"id": "x", "agent": "leaf", "input": "slow x"},
          {"id": "y", "agent": "leaf", "input": "slow y"},
          {"id": "z", "agent": "leaf", "input": "hang z"}]},
        {"id": "two", "join": {"n_of": 2}, "parallel": [
          {"id": "p1", "agent": "leaf", "input": "slow p"},
          {"id": "p2", "agent": "leaf", "input": "fail q"},
          {"id": "p3", "agent": "leaf", "input": "say r"},
          {"id": "p4", "agent": "leaf", "input": "hang s"}]},
        {"id": "best", "join": "best_effort", "parallel": [
          {"id": "m", "agent": "leaf", "input": "fail m"},
          {"id": "n", "agent": {"skill": "leafing"}, "input": "say n"}]}],
        "output": "{{/steps/all/text}};{{/steps/any/text}};{{/steps/two/text}};{{/steps/best/text}}"})"},
      {"plan-loops", R"({"id": "p", "sequence": [
        {"id": "tries", "loop": {"id": "try", "agent": "leaf", "input": "count {{/iteration}}"},
         "until": {"value": "/steps/try/data/n", "greater": 1}, "max": 5},
        {"id": "pause", "wait": {"seconds": 2}},
        {"id": "each", "over": ["a", "b", "c", "d", "e"], "concurrency": 2, "map":
          {"id": "one", "sequence": [
            {"id": "first", "agent": "leaf", "input": "flaky 1 {{/item}}",
             "retry": {"count": 2, "delay_s": 0.2, "on": ["failed"]}},
            {"id": "then", "agent": "leaf", "input": "say {{/steps/first/text}}{{/index}}"}]}},
        {"id": "way", "route": [
          {"when": {"value": "/message/text", "contains": "left"},
           "then": {"id": "left", "agent": "leaf", "input": "say left"}},
          {"then": {"id": "right", "agent": "leaf", "input": "slow right"}}]}],
        "output": "{{/steps/try/text}} {{/steps/each/text}} {{/steps/way/text}}"})"},
      {"plan-timed", R"({"id": "p", "sequence": [
        {"id": "never", "agent": "leaf", "input": "hang n", "timeout_s": 2, "on_failure": "continue"},
        {"id": "later", "agent": "leaf", "input": "hang-first l", "timeout_s": 4,
         "retry": {"count": 3, "delay_s": 0.2, "on": ["timeout", "failed"]}, "on_failure": "continue"},
        {"id": "asked", "ask": "In time?", "timeout_s": 20, "on_failure": "continue"}],
        "output": "{{/steps/never/state}} {{/steps/later/state}} {{/steps/asked/state}}"})"},
      {"plan-undone", R"({"id": "p", "sequence": [
        {"id": "a", "agent": "leaf", "input": "say a",
         "compensate": {"id": "undo-a", "agent": "leaf", "input": "slow a"}},
        {"id": "both", "parallel": [
          {"id": "b", "agent": "leaf", "input": "slow b",
           "compensate": {"id": "undo-b", "agent": "leaf", "input": "flaky 1 b",
                          "retry": {"count": 1, "delay_s": 0.5}}},
          {"id": "c", "agent": "leaf", "input": "slow c",
           "compensate": {"id": "undo-c", "agent": "leaf", "input": "fail c"}}]},
        {"id": "each", "over": [1, 2, 3], "concurrency": 2, "map":
          {"id": "d", "agent": "leaf", "input": "slow {{/item}}",
           "compensate": {"id": "undo-d", "agent": "leaf", "input": "say {{/item}}"}}},
        {"id": "e", "agent": "leaf", "input": "fail e", "on_failure": "compensate",
         "compensate": {"id": "undo-e", "agent": "leaf", "input": "slow e"}},
        {"id": "f", "agent": "leaf", "input": "say f"}]})"},
      {"plan-race", R"({"id": "p", "sequence": [
        {"id": "race", "join": "any", "parallel": [
          {"id": "x", "agent": "leaf", "input": "slow x",
           "compensate": {"id": "undo-x", "agent": "leaf", "input": "slow x"}},
          {"id": "y", "agent": "leaf", "input": "slow y",
           "compensate": {"id": "undo-y", "agent": "leaf", "input": "say y"}}]},
        {"id": "then", "agent": "leaf", "input": "slow t"}],
        "output": "{{/steps/race/text}}"})"},
      {"plan-spent", R"({"id": "p", "sequence": [
        {"id": "a", "agent": "leaf", "input": "say a",
         "compensate": {"id": "undo-a", "agent": "leaf", "input": "slow a"}},
        {"id": "b", "agent": "leaf", "input": "slow b"},
        {"id": "c", "agent": "leaf", "input": "say c"}], "budget": {"max_children": 2}})"},
      {"plan-asks", R"({"id": "p", "sequence": [
        {"id": "two", "parallel": [{"id": "one", "ask": "One?"}, {"id": "other", "ask": "Other?"}]},
        {"id": "sign", "ask": "May I?", "auth": true},
        {"id": "done", "agent": "leaf", "input": "say {{/steps/one/text}} {{/steps/other/text}}"}],
        "output": "{{/steps/done/text}} {{/steps/sign/text}}"})"},
      {"plan-small", R"({"id": "p", "sequence": [
        {"id": "s", "agent": "leaf", "input": "say s"},
        {"id": "t", "agent": "leaf", "input": "slow {{/steps/s/text}}"}]})"},
      {"plan-nested", R"({"id": "p", "parallel": [
        {"id": "small", "agent": "plan-small"},
        {"id": "asks", "agent": "plan-asks"},
        {"id": "loose", "agent": "leaf", "input": "say loose"}],
        "output": "{{/steps/small/text}}/{{/steps/asks/text}}/{{/steps/loose/text}}"})"},
      {"plan-many", R"({"id": "p", "over": [1, 2, 3, 4, 5], "concurrency": 2,
        "map": {"id": "d", "agent": "leaf", "input": "slow {{/item}}"}, "budget": {"max_children": 3}})"},
      {"plan-long", R"({"id": "p", "parallel": [
        {"id": "a", "agent": "leaf", "input": "hang a"}, {"id": "b", "agent": "leaf", "input": "say b"}],
        "budget": {"max_wall_s": 4}})"},
  };
  return kTexts;
}

std::string shipped_plan() {
  std::ifstream file(BATON_QUARTERLY_CARD);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto card = json::Document::view_of(text);
  return std::string(card.root()["baton"]["plan"].raw());
}

std::vector<PlanCase> read_plans() {
  std::vector<PlanCase> plans;
  auto all = texts();
  all.emplace_back("quarterly", shipped_plan());
  for (const auto& [agent, text] : all) {
    std::vector<json::SchemaProblem> problems;
    plans.push_back({agent, agents::read_plan(text, agent, problems)});
    if (problems.empty()) continue;
    std::fprintf(stderr, "%s: %s\n", problems[0].pointer.c_str(), problems[0].reason.c_str());
    std::abort();
  }
  return plans;
}

std::string quarterly_outcome(const std::vector<task::Part>& input, const Answers& answers) {
  std::string answer, compared, doubtful, files;
  for (const auto& [path, text] : answers) {
    if (path.find("/question/") != std::string::npos) answer = text;
  }
  if (answer != "yes" && answer != "ok")
    return "completed\nThe report was not made, as the answer was not yes.";
  int found = 0;
  for (const task::Part& part : input) {
    if (part.kind == task::Part::Kind::text) continue;
    compared += "+table " + part.content;
    found += part.content.find('9') != std::string::npos ? 1 : 0;
    files += "|chart " + part.content;
  }
  return "completed\n\nreport.html=Quarterly report|Comparison: " + compared +
         "|What stands out: " + std::to_string(found) + files;
}

}  // namespace

const std::vector<PlanCase>& plan_cases() {
  static const std::vector<PlanCase> kPlans = read_plans();
  return kPlans;
}

const agents::Plan* plan_of(const std::string& agent) {
  const auto found = std::ranges::find(plan_cases(), agent, &PlanCase::agent);
  return found == plan_cases().end() ? nullptr : found->plan.get();
}

bool is_compensation(const std::string& path) {
  return path.find("/undo-") != std::string::npos;
}

std::vector<task::Part> plan_input(const std::string& agent, Random& random) {
  if (agent != "quarterly") return {task::Part::of_text(random.chance(500) ? "go left" : "go right")};
  std::vector<task::Part> parts;
  for (std::int64_t left = random.between(1, 5); left > 0; --left)
    parts.push_back(task::Part::of_data({std::to_string(random.below(100))}));
  return parts;
}

std::vector<std::string> plan_outcomes(const std::string& agent, const std::vector<task::Part>& input,
                                       const Answers& answers) {
  const auto answer = [&](const std::string& path) {
    const auto found = answers.find(path);
    return found == answers.end() ? std::string() : found->second;
  };
  const auto asked = [&](const std::string& in) {
    return "(" + answer(in + "p/two/one") + " " + answer(in + "p/two/other") + ") " + answer(in + "p/sign");
  };
  if (agent == "quarterly") return {quarterly_outcome(input, answers)};
  if (agent == "plan-joins") {
    std::vector<std::string> all;
    for (const char* any : {"(x)", "(y)", "(x)\n\n(y)"})
      all.push_back(std::string("completed\n(a)\n\n(b)\n\n(c);") + any + ";(p)\n\n(r);(n)");
    return all;
  }
  if (agent == "plan-loops") {
    const bool left = task::text_of(input).find("left") != std::string::npos;
    return {std::string("completed\n2 ((a)0)\n\n((b)1)\n\n((c)2)\n\n((d)3)\n\n((e)4) ") +
            (left ? "(left)" : "(right)")};
  }
  if (agent == "plan-timed") {
    std::vector<std::string> all;
    // If the world stands still, a child may end by itself before its timeout is noticed.
    for (const char* never : {"timeout ", "failed "}) {
      for (const char* later : {"completed ", "timeout ", "failed "}) {
        for (const char* last : {"completed", "timeout"})
          all.push_back(std::string("completed\n") + never + later + last);
      }
    }
    return all;
  }
  if (agent == "plan-undone") {
    return {
        "failed\nstep e (agent leaf) failed: e; step both/c could not be undone: "
        "step both/c/undo-c (agent leaf) failed: c"};
  }
  if (agent == "plan-asks") return {"completed\n" + asked("")};
  if (agent == "plan-small") return {"completed\n((s))"};
  if (agent == "plan-many") {
    return {"failed\nthe task's budget allows at most 3 tasks below it (max_children)"};
  }
  if (agent == "plan-race") return {"completed\n(x)", "completed\n(y)"};
  if (agent == "plan-spent")
    return {"failed\nthe task's budget allows at most 2 tasks below it (max_children)"};
  if (agent == "plan-long") return {"failed\nthe task exceeded its time limit (max_wall_s)"};
  return {"completed\n((s))/" + asked("p/asks>") + "/(loose)"};
}

}  // namespace baton::simulation
