#include "agents/cards/catalogue.h"

#include <doctest/doctest.h>

#include <regex>

#include "agents/command/command_executor.h"
#include "agents/command/process_host.h"
#include "agents/function_executor.h"
#include "support/recording_sink.h"
#include "support/temp_folder.h"

namespace catalogue_test {

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
  base::Result<Catalogue> load(const Catalogue::Builtins& builtins = {},
                               const agents::CommonRules& rules = {}) {
    return Catalogue::load(folder.path(), agents::command_executors(host), builtins, rules);
  }
  // The report of a strict load, without the folder's path and the positions in the files.
  std::string report(const Catalogue::Builtins& builtins = {}) {
    const auto loaded = load(builtins, {{}, false, true});
    if (loaded) return "";
    std::string text =
        std::regex_replace(loaded.error().for_log, std::regex("card\\.json:[0-9]+:[0-9]+:"), "card.json:");
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
  REQUIRE(catalogue->default_agent() != nullptr);
  CHECK(catalogue->default_agent()->name.value == "two");
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

TEST_CASE("Catalogue: an agent's settings come from its card or are the defaults") {
  Bench bench;
  bench.folder.write("a/card.json", card(R"({"executor":"command","command":["x"],"env_from":["A","B"],
    "limits":{"memory_bytes":1073741824,"cpu_s":5,"processes":6,"open_files":70},"errors":"verbose",
    "worker_drain_s":1.5,"wait_keep_s":2.5,"first_output_s":0.5})"));
  bench.folder.write("b/card.json", card(R"({"executor":"command","command":["x"]})"));
  const auto catalogue = bench.load();
  REQUIRE_MESSAGE(catalogue.has_value(), catalogue.error().for_log);
  const AgentSettings& said = catalogue->find({"a"})->settings;
  CHECK(said.env_from == std::vector<std::string>{"A", "B"});
  CHECK(said.limits.memory == 1u << 30);
  CHECK(said.limits.cpu_s == 5);
  CHECK(said.limits.processes == 6);
  CHECK(said.limits.open_files == 70);
  CHECK(said.verbose_errors);
  CHECK(said.worker_drain == std::chrono::milliseconds(1500));
  CHECK(said.wait_keep == std::chrono::milliseconds(2500));
  CHECK(said.first_output == std::chrono::milliseconds(500));
  const AgentSettings& unsaid = catalogue->find({"b"})->settings;
  CHECK(unsaid.env_from.empty());
  CHECK(unsaid.limits.memory == 0);
  CHECK_FALSE(unsaid.verbose_errors);
  CHECK(unsaid.worker_drain == std::chrono::seconds(60));
  CHECK(unsaid.wait_keep == std::chrono::seconds(10));
  CHECK(unsaid.first_output.count() == 0);
}

TEST_CASE("Catalogue: secrets and Baton's own variables cannot be passed on to agents") {
  Bench bench;
  bench.folder.write(
      "a/card.json",
      card(R"({"executor":"command","command":["x"],"env_from":["ANNS","BATON_TOKENS","HOST"]})"));
  const auto loaded =
      Catalogue::load(bench.folder.path(), agents::command_executors(bench.host), {}, {{"ANNS"}, false});
  REQUIRE_FALSE(loaded.has_value());
  const std::string& report = loaded.error().for_log;
  CHECK(report.find("\"ANNS\" contains a caller's token, so agents do not get it: remove it here") !=
        std::string::npos);
  CHECK(report.find("/baton/env_from/1: \"BATON_TOKENS\" is reserved for Baton, so agents do not get it: use "
                    "a name without BATON_") != std::string::npos);
  CHECK(report.find("HOST\"") == std::string::npos);
}

TEST_CASE("Catalogue: the server's setting turns on verbose errors for all agents") {
  Bench bench;
  bench.folder.write("a/card.json", card(R"({"executor":"command","command":["x"]})"));
  const auto loaded =
      Catalogue::load(bench.folder.path(), agents::command_executors(bench.host), {}, {{}, true});
  REQUIRE(loaded.has_value());
  CHECK(loaded->all().front()->settings.verbose_errors);
}

TEST_CASE("Catalogue: a single agent is the default, and several agents without a default have none") {
  Bench bench;
  const std::string plain = card(R"({"executor":"command","command":["x"]})");
  bench.folder.write("a/card.json", plain);
  const auto one = bench.load();
  REQUIRE(one.has_value());
  REQUIRE(one->default_agent() != nullptr);
  CHECK(one->default_agent()->name.value == "a");
  bench.folder.write("b/card.json", plain);
  const auto two = bench.load();
  REQUIRE(two.has_value());
  CHECK(two->default_agent() == nullptr);
}

TEST_CASE("Catalogue: if the default agent is left out, no other agent becomes the default") {
  Bench bench;
  bench.folder.write("a/card.json", card(R"({"executor":"command","command":["x"]})"));
  bench.folder.write("b/card.json", card(R"({"executor":"comand","command":["x"],"default":true})"));
  const auto catalogue = bench.load();
  REQUIRE(catalogue.has_value());
  CHECK(catalogue->all().size() == 1);
  CHECK(catalogue->default_agent() == nullptr);
  REQUIRE(catalogue->left_out().size() == 1);
  CHECK(catalogue->left_out()[0].folder == "b");
  CHECK(catalogue->is_left_out({"b"}));
  CHECK_FALSE(catalogue->is_left_out({"a"}));
  CHECK(bench.load({}, {{}, false, true}).has_value() == false);
}

TEST_CASE("Catalogue: problems and warnings are reported with line and column") {
  Bench bench;
  const std::string oddly =
      "{\n  \"name\": \"N\", \"description\": \"D\", \"version\": \"1\", \"iconURL\": \"i\", \"x-mine\": 1,\n"
      "  \"defaultInputModes\": [\"text/plain\"], \"defaultOutputModes\": [\"text/plain\"],\n"
      "  \"skills\": [{\"id\": \"s\", \"name\": \"S\", \"description\": \"\", \"tags\": [],\n"
      "    \"example\": []}],\n"
      "  \"baton\": {\"executor\": \"command\", \"command\": [\"no-such-python\", \"-u\", \"agent.py\"]}}\n";
  bench.folder.write("a/card.json", oddly);
  bench.folder.write("b/card.json", "{\n  \"name\": \"N\"\n  \"version\": 1}");
  const auto catalogue = bench.load();
  REQUIRE(catalogue.has_value());
  const std::string a = (bench.folder.path() / "a/card.json").string();
  const std::string b = (bench.folder.path() / "b/card.json").string();
  std::vector<std::string> warnings;
  for (const Catalogue::CardReport& odd : catalogue->warnings()) warnings.push_back(odd.text());
  CHECK(warnings == std::vector<std::string>{
                        a + ":2:63: /iconURL: is unknown; did you mean \"iconUrl\"?",
                        a + ":5:16: /skills/0/example: is unknown; did you mean \"examples\"?",
                        a + ":6:47: /baton/command: the program \"no-such-python\" was not found in PATH or "
                            "in the agent's folder",
                        a + ":6:47: /baton/command: the file \"agent.py\" is missing or cannot be read",
                    });
  REQUIRE(catalogue->left_out().size() == 1);
  CHECK(catalogue->left_out()[0].text().starts_with(b + ":3:3: "));
}

TEST_CASE("Catalogue: a member that is in a card twice is reported once") {
  Bench bench;
  bench.folder.write("a/card.json", R"({"name":"N","description":"D","version":"1","name":5,
    "baton":{"executor":"command","command":["x"],"mode":"turn","mode":"turn"}})");
  bench.folder.write("b/card.json", card(R"({"executor":"command","command":["x"]})"));
  const auto catalogue = bench.load();
  REQUIRE(catalogue.has_value());
  REQUIRE(catalogue->left_out().size() == 1);
  const std::string a = (bench.folder.path() / "a/card.json").string();
  CHECK(catalogue->left_out()[0].text() == a + ":1:52: /name: is given twice: remove one of the two\n" + a +
                                               ":2:72: /baton/mode: is given twice: remove one of the two");
}

TEST_CASE("Catalogue: one report has the problems of all cards") {
  Bench bench;
  bench.folder.write("a/card.json", "{\"name\": }");
  bench.folder.write("b/card.json", card(R"({"executor":"opnai","worker":2,"mode":"thread"})"));
  bench.folder.write("c/card.json", card(R"({"executor":"command","io":"text","mode":"worker"})"));
  bench.folder.write("d/card.json", card(R"({"executor":"command","command":["x"],"default":true})"));
  bench.folder.write("e/card.json", card(R"({"executor":"command","command":["x"],"default":true})"));
  bench.folder.write("F/card.json", card(R"({"executor":"command","command":[""],"env":{"A=B":"c"}})"));
  bench.folder.write("g/card.json", card(R"({"executor":"builtin","command":["x"]})"));
  bench.folder.write(
      "h/card.json",
      card(R"({"executor":"command","command":["x"],"plain_answers":"yes","confirm_tool":""})"));
  bench.folder.write("i/card.json", "");
  const std::string report = bench.report();
  CAPTURE(report);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < report.size();) {
    const std::size_t end = std::min(report.find('\n', at), report.size());
    lines.push_back(report.substr(at, end - at));
    at = end + 1;
  }
  const std::vector<std::string> expected = {
      "/F/card.json: the folder's name may contain only a-z 0-9 - _ . and must begin with a letter or digit",
      "/F/card.json: /baton/command/0: must not be empty",
      "/F/card.json: /baton/env: \"A=B\" is not a valid environment variable",
      "/b/card.json: /baton/executor: must be one of \"command\", \"builtin\", \"a2a\", \"ag-ui\", "
      "\"openai\", \"workflow\"",
      "/b/card.json: /baton/worker: is unknown; did you mean \"workers\"?",
      "/b/card.json: /baton/mode: must be one of \"turn\", \"worker\"",
      "/c/card.json: /baton: executor \"command\" requires \"command\": [\"program\", \"argument\", ...]",
      "/c/card.json: /baton/io: \"text\" requires \"mode\": \"turn\", because a worker uses the line "
      "protocol",
      "/e/card.json: /baton/default: agent \"d\" is already the default: only one agent can be",
      "/g/card.json: /baton/command: is only allowed with executor \"command\"",
      "/h/card.json: /baton/plain_answers: must be of type \"boolean\"",
      "/h/card.json: /baton/confirm_tool: must not be empty",
      "/i/card.json: is empty",
  };
  REQUIRE(lines.size() == expected.size() + 1);
  CHECK(lines[3].starts_with("/a/card.json: "));
  lines.erase(lines.begin() + 3);
  CHECK(lines == expected);
}

TEST_CASE("Catalogue: a plan's output that has not the form of a step's input is refused") {
  for (const std::string output :
       {R"({"txt":"x"})", R"({"text":{"a":"x"}})", R"({"files":"/message/files"})"}) {
    CAPTURE(output);
    Bench bench;
    bench.folder.write("p/card.json",
                       card(R"({"executor":"workflow","plan":{"agent":"x","output":)" + output + "}}"));
    CHECK(bench.report().find("/baton/plan/output") != std::string::npos);
  }
}

TEST_CASE("Catalogue: a folder that is missing or empty is refused") {
  Bench bench;
  CHECK(bench.report() == ": contains no folder with a card.json; `baton init` makes one");
  const auto missing =
      Catalogue::load(bench.folder.path() / "nowhere", agents::command_executors(bench.host));
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().for_log.find("cannot be read: No such file or directory") != std::string::npos);
}

TEST_CASE("Catalogue: a model whose tool is not an agent is served, with a warning") {
  Bench bench;
  bench.folder.write("echo/card.json", card(R"({"executor":"command","command":["true"]})"));
  bench.folder.write("model/card.json", card(R"({"executor":"openai","url":"https://host/v1",
                                                "model":{"name":"m","tools":["echo","eco"]}})"));
  base::WorkerPool pool("functions", 1, 10);
  const auto make = [&](const agents::Agent&) {
    return std::make_unique<agents::FunctionExecutor>(pool, [](agents::FunctionTurn&) {});
  };
  const auto catalogue = Catalogue::load(bench.folder.path(), make);
  REQUIRE(catalogue.has_value());
  CHECK(catalogue->find({"model"}) != nullptr);
  REQUIRE(catalogue->warnings().size() == 1);
  CHECK(catalogue->warnings().front().text().ends_with(
      "/model/card.json: /baton/model/tools: agent not found: \"eco\""));
}

TEST_CASE("Catalogue: a byte order mark before a card is ignored") {
  Bench bench;
  bench.folder.write("echo/card.json", "\xEF\xBB\xBF" + card(R"({"executor":"command","command":["true"]})"));
  const auto catalogue = bench.load();
  REQUIRE(catalogue.has_value());
  REQUIRE(catalogue->find({"echo"}) != nullptr);
  CHECK(catalogue->find({"echo"})->card_text.starts_with("{"));
}

TEST_CASE("Catalogue: a schedule with an unknown time zone is off, and its agent is served") {
  Bench bench;
  bench.folder.write("echo/card.json", card(R"({"executor":"command","command":["true"],
                                               "schedule":{"cron":"@daily","message":"m","timezone":"Mars/A"}})"));
  const auto catalogue = bench.load();
  REQUIRE(catalogue.has_value());
  REQUIRE(catalogue->find({"echo"}) != nullptr);
  CHECK(catalogue->find({"echo"})->settings.schedules.empty());
  REQUIRE(catalogue->warnings().size() == 1);
  CHECK(catalogue->warnings().front().text().ends_with(
      "/baton/schedule/timezone: is not a known time zone; this schedule is disabled"));
}

TEST_CASE("Catalogue: built-in executors are made by name") {
  Bench bench;
  base::WorkerPool pool("functions", 1, 10);
  const Catalogue::Builtins builtins{
      {"hello", [&](const agents::Agent& agent) {
         return std::make_unique<agents::FunctionExecutor>(
             pool, [name = agent.name.value](agents::FunctionTurn& turn) { turn.text("I am " + name); });
       }}};
  bench.folder.write("greeter/card.json", card(R"({"executor":"builtin","builtin":"hello"})"));
  bench.folder.write("hello/card.json", card(R"({"executor":"builtin"})"));
  const auto catalogue = bench.load(builtins);
  REQUIRE_MESSAGE(catalogue.has_value(), catalogue.error().for_log);
  for (const agents::Agent* agent : catalogue->all()) {
    auto sink = std::make_shared<test::RecordingSink>();
    const auto running = agent->executor->start({}, sink);
    REQUIRE(sink->wait_finished());
    CHECK(sink->all_text() == "I am " + agent->name.value);
  }
  CHECK(bench.report() ==
        "/greeter/card.json: /baton: unknown built-in executor \"hello\"\n/hello/card.json: /baton: unknown "
        "built-in executor \"hello\"");
}

TEST_CASE("Catalogue: each agent is a tool of its own, and no other agent takes the name of its tool") {
  const std::string longest(64, 'x');
  std::vector<agents::Agent> all;
  for (const std::string& name : {std::string("a.b"), std::string("a_b"), longest + "1", longest + "2"}) {
    all.emplace_back().name.value = name;
  }
  all.emplace_back().name.value = "hidden";
  all.back().settings.tool.is_offered = false;
  const Catalogue catalogue(std::move(all));
  REQUIRE(catalogue.tools().size() == 4);
  const auto agent_of = [&](std::string_view tool) {
    const Catalogue::Tool* found = catalogue.find_tool(tool);
    return found == nullptr ? std::string("none") : found->agent->name.value;
  };
  CHECK(agent_of("a_b") == "a_b");
  CHECK(agent_of("a_b_2") == "a.b");
  CHECK(agent_of(longest) == longest + "1");
  CHECK(agent_of(longest.substr(0, 62) + "_2") == longest + "2");
  CHECK(agent_of("a.b") == "none");
  CHECK(agent_of("hidden") == "none");
  const auto& own = catalogue.tools_of(*catalogue.find({"a.b"}));
  REQUIRE(own.size() == 1);
  CHECK(own.front().name == "a_b_2");
  CHECK(own.front().skill == nullptr);
  CHECK(catalogue.tools_of(*catalogue.find({"hidden"})).empty());
}

TEST_CASE("Catalogue: skills are tools of their agent's path if a schema distinguishes them") {
  Bench bench;
  const auto with = [&](const std::string& agent, const std::string& skills) {
    const std::string text = card(R"({"executor":"command","command":["cat"]})");
    bench.folder.write(agent + "/card.json", std::regex_replace(text, std::regex(R"("skills":\[.*?\]\}\])"),
                                                                R"("skills":)" + skills));
  };
  const std::string b = R"({"id":"a_b","name":"B","description":"","tags":[]})";
  const auto a = [](const std::string& schema) {
    return R"({"id":"a b","name":"A","description":"","tags":[],"inputSchema":)" + schema + "}";
  };
  const std::string good = R"({"type":"object","required":["n"]})";
  with("both", "[" + a(good) + "," + b + "]");
  with("only", "[" + a(good) + "]");
  with("plain", "[" + b + "]");
  with("wrong", "[" + b + "," + a(R"({"type":"object","properties":{"n":{"type":"x"}}})") + "]");
  const auto catalogue = bench.load();
  REQUIRE_MESSAGE(catalogue.has_value(), catalogue.error().for_log);
  const agents::Agent& both = *catalogue->find({"both"});
  const auto& skills = catalogue->tools_of(both);
  REQUIRE(skills.size() == 2);
  CHECK(skills[0].name == "a_b");
  CHECK(skills[0].skill->id == "a b");
  CHECK(skills[0].input().text.text == good);
  CHECK(skills[1].name == "a_b_2");
  CHECK(skills[1].input().schema == nullptr);
  CHECK(catalogue->find_tool_of(both, "a_b_2") == &skills[1]);
  CHECK(catalogue->find_tool_of(both, "both") == catalogue->find_tool("both"));
  CHECK(catalogue->find_tool_of(both, "only") == nullptr);
  // The whole agents.
  CHECK(catalogue->find_tool("both")->input().schema == nullptr);
  CHECK(catalogue->find_tool("only")->input().text.text == good);
  for (const char* name : {"only", "plain"}) {
    const auto& own = catalogue->tools_of(*catalogue->find({name}));
    REQUIRE(own.size() == 1);
    CHECK(own.front().name == name);
  }
  CHECK(catalogue->find({"wrong"}) == nullptr);
  CHECK(bench.report().starts_with("/wrong/card.json: /skills/1/inputSchema/properties/n"));
}

TEST_CASE("is_agent_name: lower-case names only") {
  CHECK(agents::is_agent_name("table-report"));
  CHECK(agents::is_agent_name("3d_x.y"));
  CHECK_FALSE(agents::is_agent_name(""));
  CHECK_FALSE(agents::is_agent_name("-x"));
  CHECK_FALSE(agents::is_agent_name("Echo"));
  CHECK_FALSE(agents::is_agent_name("a b"));
}

TEST_CASE("Catalogue: a reload reports what changed and keeps unchanged agents") {
  Bench bench;
  const std::string text = card(R"({"executor":"command","command":["x"]})");
  for (const char* name : {"gone", "same", "other"}) {
    bench.folder.write(std::string(name) + "/card.json", text);
  }
  auto catalogue = bench.load();
  REQUIRE(catalogue);
  const agents::Agent *same = catalogue->find({"same"}), *other = catalogue->find({"other"});
  const auto& before = catalogue->all();
  CHECK(catalogue->default_agent() == nullptr);

  std::filesystem::remove_all(bench.folder.path() / "gone");
  bench.folder.write("fresh/card.json", card(R"({"executor":"command","command":["x"],"default":true})"));
  bench.folder.write("other/card.json", card(R"({"executor":"command","command":["x"],"concurrency":7})"));
  const auto reloaded = catalogue->reload(bench.folder.path(), agents::command_executors(bench.host));
  REQUIRE(reloaded);
  CHECK(reloaded->added.size() == 1);
  CHECK(reloaded->changed.size() == 1);
  CHECK(reloaded->removed.size() == 1);
  CHECK(reloaded->wrong.empty());
  CHECK(catalogue->find({"same"}) == same);
  CHECK(catalogue->find({"other"}) != other);
  CHECK(catalogue->find({"other"})->settings.concurrency == 7);
  CHECK(catalogue->find({"gone"}) == nullptr);
  REQUIRE(catalogue->default_agent() != nullptr);
  CHECK(catalogue->default_agent()->name.value == "fresh");
  // The old list and the old agent stay valid.
  CHECK(before.size() == 3);
  CHECK(other->settings.concurrency != 7);
}

TEST_CASE("Catalogue: a new file changes its agent in development mode only") {
  Bench bench;
  bench.folder.write("a/card.json", card(R"({"executor":"command","command":["x"]})"));
  bench.folder.write("a/agent.py", "1");
  const agents::Catalogue::Make make = agents::command_executors(bench.host);
  for (const bool dev : {true, false}) {
    auto loaded = Catalogue::load(bench.folder.path(), make, {}, {{}, dev});
    REQUIRE(loaded.has_value());
    const auto changed = [&] {
      return loaded->reload(bench.folder.path(), make, {}, {{}, dev})->changed.size();
    };
    CHECK(changed() == 0);
    bench.folder.write("a/agent.log", "left out");
    bench.folder.write("a/.agent.py.swp", "left out");
    CHECK(changed() == 0);
    bench.folder.write("a/lib/more.py", dev ? "one" : "three");
    CHECK(changed() == (dev ? 1 : 0));
    CHECK(changed() == 0);
  }
}

TEST_CASE("Catalogue: an agent whose card is wrong at a reload stays unchanged") {
  Bench bench;
  const std::string text = card(R"({"executor":"command","command":["x"]})");
  bench.folder.write("one/card.json", text);
  auto catalogue = bench.load();
  REQUIRE(catalogue);
  const agents::Agent* one = catalogue->find({"one"});
  bench.folder.write("one/card.json", "{");
  bench.folder.write("two/card.json", text);
  bench.folder.write("three/card.json", "[]");
  const auto reloaded = catalogue->reload(bench.folder.path(), agents::command_executors(bench.host));
  REQUIRE(reloaded);
  CHECK(reloaded->wrong.size() == 2);
  CHECK(reloaded->added.size() == 1);
  CHECK(reloaded->removed.size() == 0);
  CHECK(catalogue->find({"one"}) == one);
  CHECK(catalogue->find({"two"}) != nullptr);
  CHECK_FALSE(catalogue->is_left_out({"one"}));
  CHECK(catalogue->is_left_out({"three"}));
  REQUIRE(catalogue->outdated().size() == 1);
  CHECK(catalogue->outdated()[0].folder == "one");

  bench.folder.write("one/card.json", text);
  REQUIRE(catalogue->reload(bench.folder.path(), agents::command_executors(bench.host)));
  CHECK(catalogue->outdated().empty());
}

TEST_CASE(
    "Catalogue: a reload keeps the agents if all cards are wrong, and fails if no agent would be left") {
  Bench bench;
  const std::string text = card(R"({"executor":"command","command":["x"]})");
  bench.folder.write("one/card.json", text);
  bench.folder.write("two/card.json", text);
  auto catalogue = bench.load();
  REQUIRE(catalogue);
  const agents::Agent* one = catalogue->find({"one"});
  bench.folder.write("one/card.json", "{");
  std::filesystem::remove_all(bench.folder.path() / "two");
  const auto reloaded = catalogue->reload(bench.folder.path(), agents::command_executors(bench.host));
  REQUIRE(reloaded);
  CHECK(reloaded->wrong.size() == 1);
  CHECK(reloaded->removed == std::vector<std::string>{"two"});
  CHECK(catalogue->find({"one"}) == one);
  CHECK(catalogue->find({"two"}) == nullptr);
  CHECK(catalogue->outdated().size() == 1);

  std::filesystem::rename(bench.folder.path() / "one", bench.folder.path() / "three");
  CHECK_FALSE(catalogue->reload(bench.folder.path(), agents::command_executors(bench.host)));
  CHECK(catalogue->find({"one"}) == one);
  CHECK(catalogue->outdated().size() == 1);
}

TEST_CASE("Catalogue: a card that cannot be looked at is wrong, unless its folder is no agent's") {
  Bench bench;
  const std::string text = card(R"({"executor":"command","command":["x"]})");
  bench.folder.write("one/card.json", text);
  bench.folder.write("two/card.json", text);
  auto catalogue = bench.load();
  REQUIRE(catalogue);
  const agents::Agent* two = catalogue->find({"two"});
  const auto name_itself = [&](const std::string& folder) {
    const std::filesystem::path place = bench.folder.path() / folder;
    std::filesystem::remove_all(place);
    std::filesystem::create_directory(place);
    std::filesystem::create_symlink("card.json", place / "card.json");
  };
  name_itself("two");
  name_itself("lost+found");
  const auto reloaded = catalogue->reload(bench.folder.path(), agents::command_executors(bench.host));
  REQUIRE(reloaded);
  REQUIRE(reloaded->wrong.size() == 1);
  CHECK(reloaded->wrong[0].folder == "two");
  CHECK(reloaded->removed.empty());
  CHECK(catalogue->find({"two"}) == two);
  CHECK(catalogue->left_out().empty());
}

TEST_CASE("Catalogue: all allowed URLs find the same hidden agent, and other URLs find none") {
  const auto named = [](const std::string& name) {
    agents::Agent agent;
    agent.name.value = name;
    return agent;
  };
  std::vector<agents::Agent> agents;
  agents.push_back(named("one"));
  Catalogue catalogue(std::move(agents));
  CHECK(catalogue.find({"https://a/"}) == nullptr);
  catalogue.add_elsewhere(named("~elsewhere"), [](std::string_view url) { return url != "https://b/"; });
  const agents::Agent* elsewhere = catalogue.find({"https://a/"});
  REQUIRE(elsewhere != nullptr);
  CHECK(elsewhere->name.value == "~elsewhere");
  CHECK(catalogue.find({"https://a/x"}) == elsewhere);
  CHECK(catalogue.find({"https://b/"}) == nullptr);
  CHECK(catalogue.find({"two"}) == nullptr);
  CHECK(catalogue.all().size() == 1);
}

}  // namespace catalogue_test
