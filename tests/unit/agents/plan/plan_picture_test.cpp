#include "agents/plan/plan_picture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "agents/plan/plan_words.h"

namespace plan_picture_test {
namespace {

using namespace baton;
using agents::PlanRecord;
using What = PlanRecord::What;

std::shared_ptr<const agents::Plan> plan_of(const std::string& text) {
  std::vector<json::SchemaProblem> problems;
  auto plan = agents::read_plan(text, {}, problems);
  for (const json::SchemaProblem& problem : problems) FAIL(problem.pointer << ": " << problem.reason);
  return plan;
}

base::Timestamp at(std::int64_t ms) {
  return base::from_ms(1'000'000 + ms);
}

std::string draw(const std::string& text) {
  return agents::plan_picture(*plan_of(text), "name");
}

std::string draw(const std::string& text, const std::vector<PlanRecord>& records,
                 task::State state = task::State::working) {
  agents::PlanFacts facts;
  facts.add({What::began, {}, 0, at(0), {}, text});
  for (const PlanRecord& record : records) facts.add(record);
  const agents::PlanPictureRun run{facts, state, at(10'000)};
  return agents::plan_picture(*plan_of(text), "name", &run);
}

PlanRecord begin(const std::string& path, int attempt = 1, std::int64_t ms = 1'000) {
  return {What::begin, path, attempt, at(ms)};
}
PlanRecord done(const std::string& path, int attempt = 1, std::int64_t ms = 3'500, std::int64_t tokens = 0) {
  return {What::end, path, attempt, at(ms), {}, {}, tokens};
}
PlanRecord failed(const std::string& path, int attempt = 1, const std::string& kind = "failed") {
  return {What::end, path, attempt, at(3'500), kind, "the reason"};
}

struct Shown {
  std::string state;  // its classes other than "step"
  std::string text;   // all text of its group, tooltip included
};

Shown shown(const std::string& svg, const std::string& step) {
  const std::regex group("<g class=\"step ?([^\"]*)\" data-step=\"" + step +
                         "\" data-kind=\"[a-z]*\">([\\s\\S]*?)</g>");
  std::smatch found;
  if (!std::regex_search(svg, found, group)) return {"absent", {}};
  return {found[1], found[2]};
}

struct Box {
  int left, top, right, bottom;
};

std::vector<Box> boxes(const std::string& svg, const std::string& kind) {
  const std::regex rect("<rect class=\"" + kind +
                        "\" x=\"(-?\\d+)\" y=\"(-?\\d+)\" width=\"(\\d+)\" height=\"(\\d+)\"");
  std::vector<Box> all;
  for (std::sregex_iterator one(svg.begin(), svg.end(), rect), end; one != end; ++one) {
    const int x = std::stoi((*one)[1]), y = std::stoi((*one)[2]);
    all.push_back({x, y, x + std::stoi((*one)[3]), y + std::stoi((*one)[4])});
  }
  return all;
}

constexpr const char* kLarge = R"({"id": "all", "sequence": [
  {"id": "tables", "map": {"agent": "table", "id": "table"}, "over": "/message/files", "concurrency": 8},
  {"id": "both", "parallel": [
    {"agent": "left", "id": "left", "compensate": {"id": "undo-left", "sequence": [
      {"agent": "a", "id": "u1"}, {"agent": "b", "id": "u2"}]}},
    {"sequence": [{"agent": "right", "id": "right"}, {"wait": {"seconds": 90}, "id": "pause"}]},
    {"parallel": [{"agent": "x", "id": "x"}, {"agent": "y", "id": "y"}], "join": "any"}], "join": {"n_of": 2}},
  {"id": "way", "route": [
    {"when": {"skill": "short"}, "then": {"agent": "short", "id": "short"}},
    {"when": {"value": "/message/text", "equals": "a"}, "then": {"agent": "long", "id": "long", "compensate":
      {"agent": "z", "id": "undo-long"}}}]},
  {"id": "again", "loop": {"map": {"agent": "inner", "id": "inner"}, "over": [1, 2], "id": "pairs"}, "max": 3,
    "until": {"value": "/steps/inner/text", "equals": "good"}},
  {"ask": "Publish?", "id": "sure"}]})";

TEST_CASE("Plan picture: boxes do not overlap, stay on the page and lie within their frames") {
  for (const bool as_run : {false, true}) {
    const std::string svg = as_run ? draw(kLarge, {}) : draw(kLarge);
    const std::vector<Box> leaves = boxes(svg, "box"), frames = boxes(svg, "frame");
    CHECK(leaves.size() == 12);  // without the question, which is not a rectangle
    CHECK(frames.size() == 3);
    std::smatch size;
    REQUIRE(std::regex_search(svg, size, std::regex("viewBox=\"0 0 (\\d+) (\\d+)\"")));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const Box& one = leaves[i];
      CHECK((one.left >= 0 && one.top >= 0));
      CHECK((one.right <= std::stoi(size[1]) && one.bottom <= std::stoi(size[2])));
      for (std::size_t j = i + 1; j < leaves.size(); ++j) {
        const Box& other = leaves[j];
        const bool apart = one.right <= other.left || other.right <= one.left || one.bottom <= other.top ||
                           other.bottom <= one.top;
        CHECK(apart);
      }
      for (const Box& frame : frames) {
        const bool inside = one.left > frame.left && one.right < frame.right && one.top > frame.top &&
                            one.bottom < frame.bottom;
        const bool outside = one.right <= frame.left || frame.right <= one.left || one.bottom <= frame.top ||
                             frame.bottom <= one.top;
        CHECK((inside || outside));
      }
    }
  }
}

TEST_CASE("Plan picture: a plan shows its conditions, bounds, rules and compensations") {
  const std::string svg = draw(kLarge);
  for (const char* text :
       {"map over /message/files, 8 at once", "join: 2 must succeed", "join: any", "undone by",
        "skill is &quot;short&quot;", "otherwise", "wait 1 min 30 s", "asks: Publish?",
        "loop until inner/text is &quot;good&quot;, at most 3 times", "map over a list of 2"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(shown(svg, "short").state.empty());
  CHECK(svg == draw(kLarge));
}

TEST_CASE("Plan picture: a step shows the id from its card, or else what it does") {
  const std::string svg = draw(R"({"sequence": [{"ask": "Sure?", "id": "ask-plain"}, {"ask": "Really?"}]})");
  CHECK(shown(svg, "ask-plain").text.find(">ask-plain<") != std::string::npos);
  CHECK(shown(svg, "ask-3").text.find(">ask-3<") == std::string::npos);
  CHECK(shown(svg, "ask-3").text.find(">asks: Really?<") != std::string::npos);
}

TEST_CASE("Plan picture: each state of a step has its own class and text") {
  const std::string plan = R"({"id": "p", "parallel": [
    {"agent": "a", "id": "idle"}, {"agent": "a", "id": "working"}, {"agent": "a", "id": "done"},
    {"agent": "a", "id": "failed", "on_failure": "continue"},
    {"agent": "a", "id": "again", "retry": {"count": 2}}, {"ask": "?", "id": "asks"},
    {"agent": "a", "id": "canceled"}, {"wait": {"seconds": 20}, "id": "pause"}]})";
  const std::string svg = draw(plan, {begin("p/working"),
                                      begin("p/done"),
                                      done("p/done", 1, 3'500, 1'234),
                                      begin("p/failed"),
                                      failed("p/failed"),
                                      begin("p/again"),
                                      failed("p/again"),
                                      begin("p/asks"),
                                      begin("p/canceled"),
                                      failed("p/canceled", 1, "canceled"),
                                      {What::due, "p/pause", 0, at(15'000)}});
  const std::vector<std::array<std::string, 3>> table{{"idle", "idle", ""},
                                                      {"working", "working", "running 9 s"},
                                                      {"done", "done", "done in 2.5 s"},
                                                      {"failed", "failed", "failed in 2.5 s"},
                                                      {"again", "retries", "failed, retrying"},
                                                      {"asks", "asks", "needs input"},
                                                      {"canceled", "canceled", "canceled"},
                                                      {"pause", "working", "5 s to go"}};
  for (const auto& [step, state, words] : table) {
    CAPTURE(step);
    CHECK(shown(svg, step).state == state);
    CHECK(shown(svg, step).text.find(words) != std::string::npos);
  }
  CHECK(shown(svg, "done").text.find("1,234 tokens") != std::string::npos);
  CHECK(shown(svg, "failed").text.find("the reason") != std::string::npos);
  CHECK(svg.find("working, 10 s so far") != std::string::npos);
}

TEST_CASE("Plan picture: a step whose child asks the caller is marked, in that iteration only") {
  const std::string text = R"({"id": "m", "map": {"agent": "a", "id": "one"}, "over": [1, 2]})";
  agents::PlanFacts facts;
  for (const PlanRecord& record : {PlanRecord{What::began, {}, 0, at(0), {}, text},
                                   {What::choose, "m", 2},
                                   begin("m[0]/one"),
                                   begin("m[1]/one")})
    facts.add(record);
  const agents::PlanPictureRun run{facts, task::State::input_required, at(5'000), "m[1]/one"};
  const std::string svg = agents::plan_picture(*plan_of(text), "name", &run);
  CHECK(shown(svg, "one").text.find("1 working, 1 asking") != std::string::npos);
}

TEST_CASE("Plan picture: later attempts show their number, and the time covers all attempts") {
  const std::string plan = R"({"agent": "a", "id": "p", "retry": {"count": 2}})";
  const std::string svg = draw(plan, {begin("p"), failed("p"), begin("p", 2, 5'000), done("p", 2, 7'000)},
                               task::State::completed);
  CHECK(shown(svg, "p").state == "done");
  CHECK(shown(svg, "p").text.find("done in 6 s, attempt 2") != std::string::npos);
}

TEST_CASE("Plan picture: a step due for a retry shows as failed once the run has ended or is undone") {
  const std::string plan = R"({"agent": "a", "id": "p", "retry": {"count": 2}})";
  CHECK(shown(draw(plan, {begin("p"), failed("p")}), "p").state == "retries");
  CHECK(shown(draw(plan, {begin("p"), failed("p")}, task::State::failed), "p").state == "failed");
  CHECK(shown(draw(plan, {begin("p"), failed("p"), {What::undo, {}, 0, {}, "failed", "x"}}), "p").state ==
        "failed");
}

TEST_CASE("Plan picture: no step of a run that has ended shows as working") {
  const std::string plan =
      R"({"id": "p", "sequence": [{"agent": "a", "id": "one"}, {"agent": "a", "id": "two"},
    {"wait": {"seconds": 5}, "id": "three"}]})";
  const std::string svg = draw(plan, {begin("p/one")}, task::State::canceled);
  CHECK(shown(svg, "one").state == "canceled");
  CHECK(shown(svg, "two").state == "skipped");
  CHECK(svg.find("canceled after 10 s") != std::string::npos);
}

TEST_CASE("Plan picture: a map is drawn once, with counts of its items") {
  const std::string plan = R"({"id": "m", "map": {"sequence": [{"agent": "a", "id": "one"},
    {"agent": "a", "id": "two"}], "id": "body"}, "over": "/message/data", "concurrency": 2, "join": "best_effort"})";
  std::vector<PlanRecord> records{{What::choose, "m", 10}};
  for (int i = 0; i < 4; ++i) {
    const std::string body = "m[" + std::to_string(i) + "]/body";
    records.push_back(begin(body + "/one"));
    if (i == 3) continue;
    records.push_back(done(body + "/one"));
    records.push_back(begin(body + "/two"));
    records.push_back(i == 1 ? failed(body + "/two") : done(body + "/two"));
  }
  const std::string svg = draw(plan, records);
  CHECK(shown(svg, "m").state == "working");
  CHECK(shown(svg, "m").text.find("2 of 10 done, 1 failed, 1 running") != std::string::npos);
  CHECK(shown(svg, "one").text.find("3 done, 1 working") != std::string::npos);
  CHECK(shown(svg, "two").text.find("2 done, 1 failed") != std::string::npos);
  CHECK(boxes(svg, "box").size() == 2);
  records.push_back({What::settle, "m"});
  CHECK(shown(draw(plan, records), "m").state == "done");
}

TEST_CASE("Plan picture: a step whose input could not be made is not shown as one that is tried again") {
  const std::string svg = draw(
      R"({"id": "p", "sequence": [
    {"agent": "a", "id": "big", "retry": {"count": 3}, "on_failure": "continue"}, {"agent": "a", "id": "next"}]})",
      {begin("p/big"), {What::end, "p/big", 1, at(2'000), agents::kBadInput, "too large"}, begin("p/next")});
  CHECK(shown(svg, "big").state == "failed");
  CHECK(shown(svg, "next").state == "working");
}

TEST_CASE("Plan picture: a route shows which branch was taken") {
  const std::string plan = R"({"id": "r", "route": [
    {"when": {"skill": "x"}, "then": {"agent": "a", "id": "left"}}, {"then": {"agent": "a", "id": "right"}}]})";
  const std::string before = draw(plan, {});
  CHECK(shown(before, "left").state == "idle");
  CHECK(shown(before, "right").state == "idle");
  const std::string svg = draw(plan, {{What::choose, "r", 1}, begin("r/right")});
  CHECK(shown(svg, "left").state == "skipped");
  CHECK(shown(svg, "right").state == "working");
  const std::string none =
      draw(R"({"id": "r", "route": [{"when": {"skill": "x"}, "then": {"agent": "a", "id": "left"}}]})",
           {{What::choose, "r", -1}});
  CHECK(shown(none, "left").state == "skipped");
  CHECK(shown(none, "r").state == "done");
}

TEST_CASE("Plan picture: a loop shows its iteration, and a compensation its own state") {
  const std::string plan = R"({"id": "p", "sequence": [
    {"id": "l", "loop": {"agent": "a", "id": "body"}, "max": 9, "while": {"value": "/message/text", "exists": true}},
    {"agent": "a", "id": "paid", "compensate": {"agent": "a", "id": "refund"}}, {"agent": "a", "id": "last"}]})";
  std::vector<PlanRecord> records{{What::choose, "p/l", 0},
                                  begin("p/l[0]/body"),
                                  done("p/l[0]/body"),
                                  {What::choose, "p/l", 1},
                                  begin("p/l[1]/body")};
  CHECK(shown(draw(plan, records), "l").text.find("iteration 2") != std::string::npos);
  for (const PlanRecord& record : {done("p/l[1]/body"), PlanRecord{What::settle, "p/l"}, begin("p/paid"),
                                   done("p/paid"), begin("p/last"), failed("p/last"),
                                   PlanRecord{What::undo, {}, 0, {}, "failed", "x"}, begin("p/paid/refund")})
    records.push_back(record);
  const std::string svg = draw(plan, records);
  CHECK(shown(svg, "l").text.find("2 iterations") != std::string::npos);
  CHECK(shown(svg, "paid").state == "done");
  CHECK(shown(svg, "refund").state == "working");
  CHECK(shown(svg, "last").state == "failed");
}

TEST_CASE("Plan picture: hostile names and texts are escaped, and cut to fit") {
  const std::string evil =
      R"(</text><script>alert(1)</script>\"'&\u0000\u0007\ufffe\u202e)" + std::string(500, 'x');
  const std::string svg =
      draw(R"({"id": "p", "sequence": [{"agent": ")" + evil + R"(", "id": "one"}, {"ask": ")" + evil +
               R"(", "id": "two"}, {"route": [{"when": {"value": "/message/text", "equals": ")" + evil +
               R"("}, "then": {"agent": ")" + evil + R"("}}]}]})",
           {begin("p/one"), {What::end, "p/one", 1, at(2'000), "failed", "<b>&\x01"}});
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK(svg.find('\0') == std::string::npos);
  CHECK(svg.find('\x01') == std::string::npos);
  CHECK(svg.find("\xEF\xBF\xBE") == std::string::npos);
  CHECK(svg.find("\xE2\x80\xAE") == std::string::npos);
  const std::regex text("<text[^>]*>([^<]*)</text>");
  for (std::sregex_iterator one(svg.begin(), svg.end(), text), end; one != end; ++one)
    CHECK((*one)[1].length() < 200);
  const std::string odd = agents::plan_picture(*plan_of(R"({"agent": "a"})"), "<&\xFF");
  CHECK(odd.find("&lt;&amp;\xEF\xBF\xBD") != std::string::npos);
  CHECK(odd.find('\xFF') == std::string::npos);
}

TEST_CASE("Plan words: text is cut to its width, and times and numbers are formatted for people") {
  CHECK(agents::fitted("short", 100, {}) == "short");
  const std::string cut = agents::fitted(std::string(100, 'w'), 100, {});
  CHECK(cut.ends_with("…"));
  CHECK(agents::width_of(cut, {}) <= 100);
  CHECK(agents::width_of(cut, {}) > 80);
  CHECK(agents::fitted("a\nb", 100, {}) == "a b");
  using std::chrono::milliseconds;
  for (const auto& [ms, words] : std::vector<std::pair<std::int64_t, std::string>>{{0, "0 ms"},
                                                                                   {999, "999 ms"},
                                                                                   {1'000, "1 s"},
                                                                                   {3'250, "3.2 s"},
                                                                                   {60'000, "1 min"},
                                                                                   {250'000, "4 min 10 s"},
                                                                                   {7'500'000, "2 h 5 min"},
                                                                                   {273'600'000, "3 d 4 h"},
                                                                                   {-5, "0 ms"}})
    CHECK(agents::words_for(milliseconds(ms)) == words);
  CHECK(agents::with_commas(1'234'567) == "1,234,567");
  CHECK(agents::with_commas(-123) == "-123");
  CHECK(agents::counted(1, "token") == "1 token");
}

}  // namespace
}  // namespace plan_picture_test
