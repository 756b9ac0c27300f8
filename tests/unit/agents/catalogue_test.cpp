#include "agents/catalogue.h"

#include <doctest/doctest.h>

#include "agents/function_executor.h"
#include "agents/process_host.h"
#include "support/recording_sink.h"
#include "support/temp_folder.h"

using namespace baton;
using agents::AgentSettings;
using agents::Catalogue;

namespace {

std::string card(std::string_view baton) {
  return R"({"name":"N","description":"D","version":"1","defaultInputModes":["text/plain"],
    "defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"","tags":[]}],"baton":)" +
         std::string(baton) + "}";
}

struct Bench {
  base::Result<Catalogue> load(const Catalogue::Builtins& builtins = {}) {
    return Catalogue::load(folder.path(), host, builtins);
  }
  // The report without the folder's own path.
  std::string report(const Catalogue::Builtins& builtins = {}) {
    const auto loaded = load(builtins);
    if (loaded) return "";
    std::string text = loaded.error().for_log;
    const std::string prefix = folder.path().string();
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }

  test::TempFolder folder;
  agents::ProcessHost host;
};

}  // namespace

TEST_CASE("Catalogue: cards become agents that run") {
  Bench bench;
  bench.folder.write("one/card.json",
                     card(R"({"executor":"command","command":["sh","-c","echo '{\"type\":\"done\"}'"]})"));
  bench.folder.write("two/card.json",
                     card(R"({"executor":"command","command":["x"],"mode":"worker","workers":3,
    "concurrency":9,"turn_timeout_s":1.5,"recovery":"fail","default":true,"reply":"at_once","env":{"A":"b"},
    "plain_answers":true,"confirm_tool":"confirmAction","cancel_grace_s":0,"exit_grace_s":0.25,"line_max_bytes":2048,"output_max_bytes":4096})"));
  bench.folder.write("notes/readme.txt", "no agent");
  bench.folder.write("stray.txt", "no folder");
  const auto catalogue = bench.load();
  REQUIRE_MESSAGE(catalogue.has_value(), catalogue.error().for_log);
  REQUIRE(catalogue->all().size() == 2);
  CHECK(catalogue->default_agent().name.value == "two");
  CHECK(catalogue->find({"three"}) == nullptr);
  const agents::Agent* one = catalogue->find({"one"});
  REQUIRE(one != nullptr);
  CHECK(one->card.name == "N");
  CHECK(one->settings.mode == AgentSettings::Mode::turn);
  CHECK(one->settings.recovery == AgentSettings::Recovery::resume);
  const AgentSettings& two = catalogue->find({"two"})->settings;
  CHECK(two.mode == AgentSettings::Mode::worker);
  CHECK(two.workers == 3);
  CHECK(two.concurrency == 9);
  CHECK(two.turn_timeout == std::chrono::milliseconds(1500));
  CHECK(two.recovery == AgentSettings::Recovery::fail);
  CHECK(two.reply == AgentSettings::Reply::at_once);
  CHECK(two.plain_answers);
  CHECK(two.confirm_tool == "confirmAction");
  CHECK(two.env == std::map<std::string, std::string>{{"A", "b"}});
  CHECK(two.cancel_grace.count() == 0);
  CHECK(two.exit_grace.count() == 250);
  CHECK(two.line_max == 2048);
  CHECK(two.output_max == 4096);

  auto sink = std::make_shared<test::RecordingSink>();
  agents::Turn turn;
  turn.id = "t";
  const auto running = one->executor->start(turn, sink);
  REQUIRE(sink->wait_finished());
  CHECK(sink->ending() == "done");
}

TEST_CASE("Catalogue: without a default the first by name is it") {
  Bench bench;
  bench.folder.write("b/card.json", card(R"({"executor":"command","command":["x"]})"));
  bench.folder.write("a/card.json", card(R"({"executor":"command","command":["x"]})"));
  const auto catalogue = bench.load();
  REQUIRE(catalogue.has_value());
  CHECK(catalogue->default_agent().name.value == "a");
}

TEST_CASE("Catalogue: everything wrong with all cards is in one report") {
  Bench bench;
  bench.folder.write("a/card.json", "{\"name\": }");
  bench.folder.write("b/card.json", card(R"({"executor":"openai","worker":2,"mode":"thread"})"));
  bench.folder.write("c/card.json", card(R"({"executor":"command","io":"text","mode":"worker"})"));
  bench.folder.write("d/card.json", card(R"({"executor":"command","command":["x"],"default":true})"));
  bench.folder.write("e/card.json", card(R"({"executor":"command","command":["x"],"default":true})"));
  bench.folder.write("F/card.json", card(R"({"executor":"command","command":[""],"env":{"A=B":"c"}})"));
  bench.folder.write("g/card.json", card(R"({"executor":"builtin","command":["x"]})"));
  bench.folder.write(
      "h/card.json",
      card(R"({"executor":"command","command":["x"],"plain_answers":"yes","confirm_tool":""})"));
  const std::string report = bench.report();
  CAPTURE(report);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < report.size();) {
    const std::size_t end = std::min(report.find('\n', at), report.size());
    lines.push_back(report.substr(at, end - at));
    at = end + 1;
  }
  const std::vector<std::string> expected = {
      "/F/card.json: the folder's name must be of a-z 0-9 - _ . and begin with a letter or digit",
      "/F/card.json: /baton/command/0: must not be empty",
      "/F/card.json: /baton/env: \"A=B\" cannot be an environment variable",
      "/b/card.json: /baton/executor: must be one of \"command\", \"builtin\"",
      "/b/card.json: /baton/worker: is unknown; did you mean \"workers\"?",
      "/b/card.json: /baton/mode: must be one of \"turn\", \"worker\"",
      "/c/card.json: /baton: executor \"command\" needs \"command\": [\"program\", \"argument\", ...]",
      "/c/card.json: /baton/io: \"text\" needs mode \"turn\": its input ends with the turn",
      "/g/card.json: /baton/command: is only for executor \"command\"",
      "/h/card.json: /baton/plain_answers: must be of type \"boolean\"",
      "/h/card.json: /baton/confirm_tool: must not be empty",
      "/e/card.json: /baton/default: agent \"d\" is the default already",
  };
  REQUIRE(lines.size() == expected.size() + 1);
  CHECK(lines[3].starts_with("/a/card.json: "));
  lines.erase(lines.begin() + 3);
  CHECK(lines == expected);
}

TEST_CASE("Catalogue: a folder that is missing or empty is refused") {
  Bench bench;
  CHECK(bench.report() == ": has no subfolder with a card.json");
  const auto missing = Catalogue::load(bench.folder.path() / "nowhere", bench.host);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().for_log.find("cannot be read: No such file or directory") != std::string::npos);
}

TEST_CASE("Catalogue: built-in executors are made by name") {
  Bench bench;
  base::WorkerPool pool("functions", 1, 10);
  const Catalogue::Builtins builtins{
      {"hello", [&](const agents::Agent& agent) {
         return std::make_unique<agents::FunctionExecutor>(
             pool, [name = agent.name.value](agents::TurnContext& context) { context.text("I am " + name); });
       }}};
  bench.folder.write("greeter/card.json", card(R"({"executor":"builtin","builtin":"hello"})"));
  bench.folder.write("hello/card.json", card(R"({"executor":"builtin"})"));
  const auto catalogue = bench.load(builtins);
  REQUIRE_MESSAGE(catalogue.has_value(), catalogue.error().for_log);
  for (const agents::Agent& agent : catalogue->all()) {
    auto sink = std::make_shared<test::RecordingSink>();
    const auto running = agent.executor->start({}, sink);
    REQUIRE(sink->wait_finished());
    CHECK(sink->all_text() == "I am " + agent.name.value);
  }
  CHECK(bench.report() ==
        "/greeter/card.json: /baton: there is no built-in executor \"hello\"\n"
        "/hello/card.json: /baton: there is no built-in executor \"hello\"");
}

TEST_CASE("is_agent_name: lower-case names only") {
  CHECK(agents::is_agent_name("table-report"));
  CHECK(agents::is_agent_name("3d_x.y"));
  CHECK_FALSE(agents::is_agent_name(""));
  CHECK_FALSE(agents::is_agent_name("-x"));
  CHECK_FALSE(agents::is_agent_name("Echo"));
  CHECK_FALSE(agents::is_agent_name("a b"));
}
