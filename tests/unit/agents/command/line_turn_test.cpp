#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "support/agent_bench.h"

namespace line_turn_test {

using namespace baton;
using baton::test::AgentBench;

namespace {

constexpr const char* kEcho = R"PY(
import json, sys
turn = json.loads(sys.stdin.readline())
text = turn["message"]["parts"][0]["text"]
for word in text.split(" "):
    print(json.dumps({"type": "text", "delta": word + " "}))
print(json.dumps({"type": "done", "message": "said"}))
)PY";

// Whether this process has a child that has ended and was not reaped.
bool has_zombie() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

}  // namespace

TEST_CASE("LineTurn: an echo agent streams text and ends with a message") {
  AgentBench bench;
  bench.python(kEcho);
  const auto sink = bench.run("one two");
  CHECK(sink->all_text() == "one two ");
  const auto* done = sink->outcome_as<agents::Done>();
  REQUIRE(done != nullptr);
  REQUIRE(done->message);
  CHECK(task::text_of(*done->message) == "said");
  CHECK(done->message->role == task::Role::agent);
  CHECK(bench.wait_processes(0));
}

TEST_CASE("LineTurn: a long line holds up only its own turn, whose further lines and end follow it") {
  AgentBench bench;
  bench.python(R"PY(
import json, sys
turn = json.loads(sys.stdin.readline())
if turn["message"]["parts"][0]["text"] == "long":
    print(json.dumps({"type": "text", "delta": "before "}))
    print(json.dumps({"type": "text", "delta": "x" * 1_000_000}))
    print(json.dumps({"type": "text", "delta": " after"}))
    sys.stdout.write(json.dumps({"type": "done", "message": "y" * 1_000_000}))
else:
    print(json.dumps({"type": "done"}))
)PY");
  test::HeldSlowWork held(bench.host);
  held.wait_held();
  const auto running = bench.start(AgentBench::turn_of("long"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.all_text() == "before "; }));
  CHECK(bench.run("short")->ending() == "done");
  CHECK(running.sink->text_now() == "before ");
  held.release();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->all_text() == "before " + std::string(1'000'000, 'x') + " after");
  const auto* done = running.sink->outcome_as<agents::Done>();
  REQUIRE(done != nullptr);
  REQUIRE(done->message);
  CHECK(task::text_of(*done->message).size() == 1'000'000);
  CHECK(bench.wait_processes(0));
}

TEST_CASE("LineTurn: the agent runs in its folder, with only the passed-on and its own variables") {
  setenv("PROBE_SECRET", "hidden", 1);
  setenv("PROBE_PLAIN", "seen", 1);
  AgentBench bench;
  bench.settings.env_from = {"PROBE_PLAIN", "PROBE_NOT_SET"};
  bench.settings.env = {{"PROBE_OWN", "mine"}};
  bench.python(R"PY(
import json, os, signal
mask = open("/proc/self/status").read()
facts = {"cwd": os.path.basename(os.getcwd()), "secret": os.environ.get("PROBE_SECRET"),
         "plain": os.environ.get("PROBE_PLAIN"), "own": os.environ.get("PROBE_OWN"),
         "fds": sorted(int(f) for f in os.listdir("/proc/self/fd"))[:-1],
         "blocked": [l.split()[1] for l in mask.splitlines() if l.startswith("SigBlk")][0],
         "group": os.getpgrp() == os.getpid()}
print(json.dumps({"type": "done", "message": json.dumps(facts, sort_keys=True)}))
)PY");
  const auto sink = bench.run("x");
  unsetenv("PROBE_SECRET");
  unsetenv("PROBE_PLAIN");
  const auto* done = sink->outcome_as<agents::Done>();
  REQUIRE_MESSAGE(done != nullptr, sink->ending());
  CHECK(task::text_of(*done->message) == "{\"blocked\": \"0000000000000000\", \"cwd\": \"" +
                                             bench.folder.path().filename().string() +
                                             "\", \"fds\": [0, 1, 2], \"group\": true, \"own\": \"mine\", "
                                             "\"plain\": \"seen\", \"secret\": null}");
}

TEST_CASE("LineTurn: all kinds of events reach the sink in order") {
  AgentBench bench;
  bench.shell(R"SH(read line
echo '{"type":"status","message":"half","progress":0.5}'
echo '{"type":"artifact","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"lastChunk":true}'
echo '{"type":"tool-call","id":"c1","name":"own_tool","arguments":{"q":1}}'
echo '{"type":"tool-result","id":"c1","content":[1]}'
echo '{"type":"state","snapshot":{"n":1}}'
echo '{"type":"state","delta":[]}'
echo '{"type":"step","name":"s","phase":"start"}'
echo '{"type":"reject","reason":"no"}')SH");
  const auto sink = bench.run("x");
  REQUIRE(sink->events().size() == 8);
  const auto& status = std::get<task::StatusChanged>(sink->events()[0]);
  CHECK(status.metadata.text == "{\"progress\":0.5}");
  CHECK(task::text_of(*status.status.message) == "half");
  CHECK(std::get<task::ArtifactChunk>(sink->events()[1]).last_chunk);
  CHECK_FALSE(std::get<task::ToolCall>(sink->events()[2]).by_client);
  CHECK(std::get<task::ToolResult>(sink->events()[3]).content.text == "[1]");
  CHECK(std::get<task::StateSnapshot>(sink->events()[4]).snapshot.text == "{\"n\":1}");
  CHECK(std::holds_alternative<task::StateDelta>(sink->events()[5]));
  CHECK(std::get<task::Step>(sink->events()[6]).phase == task::Step::Phase::start);
  CHECK(std::get<task::Step>(sink->events()[7]).phase == task::Step::Phase::finish);
  REQUIRE(sink->outcome_as<agents::Rejected>() != nullptr);
  CHECK(sink->outcome_as<agents::Rejected>()->reason == "no");
}

TEST_CASE("LineTurn: a call of a client's tool ends the turn as an ask, its result begins the next one") {
  AgentBench bench;
  bench.python(R"PY(
import json, sys
turn = json.loads(sys.stdin.readline())
if "resume" in turn:
    result = json.loads(sys.stdin.readline())
    print(json.dumps({"type": "done", "message": turn["resume"]["ask"] + json.dumps(result["content"])}))
else:
    print(json.dumps({"type": "tool-call", "id": "c7", "name": "pick", "arguments": {"n": 1}}))
)PY");
  agents::Turn first = AgentBench::turn_of("x");
  first.tools.text = R"([{"name":"pick"},{"name":"other"}])";
  auto running = bench.start(std::move(first));
  REQUIRE(running.sink->wait_finished());
  REQUIRE(running.sink->events().size() == 1);
  CHECK(std::get<task::ToolCall>(running.sink->events()[0]).by_client);
  const auto* asked = running.sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(asked->id == "c7");
  CHECK(asked->message.parts[0].content.find("pick") != std::string::npos);
  CHECK(asked->message.parts[1].content == R"({"toolCall":{"id":"c7","name":"pick","arguments":{"n": 1}}})");

  agents::Turn second = AgentBench::turn_of("here", "turn-2");
  second.resume_ask = "c7";
  second.message.parts.push_back(task::Part::of_data({"{\"toolResult\":{\"id\":\"c7\",\n\"content\":[4]}}"}));
  auto resumed = bench.start(std::move(second));
  REQUIRE(resumed.sink->wait_finished());
  const auto* done = resumed.sink->outcome_as<agents::Done>();
  REQUIRE_MESSAGE(done != nullptr, resumed.sink->ending());
  CHECK(task::text_of(*done->message) == "c7[4]");
}

TEST_CASE("LineTurn: ask and auth wait for the caller") {
  AgentBench bench;
  bench.shell(R"SH(echo '{"type":"ask","id":"q","message":"why?","schema":{"type":"string"}}')SH");
  const auto sink = bench.run("x");
  const auto* asked = sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(asked->id == "q");
  CHECK_FALSE(asked->for_auth);
  CHECK(asked->message.parts[1].content == R"({"schema":{"type":"string"}})");

  AgentBench auth_bench;
  auth_bench.shell(R"SH(echo '{"type":"auth","message":"log in","url":"https://example.org/"}')SH");
  const auto auth_sink = auth_bench.run("x");
  const auto* auth = auth_sink->outcome_as<agents::Asked>();
  REQUIRE(auth != nullptr);
  CHECK(auth->for_auth);
  CHECK_FALSE(auth->id.empty());
  CHECK(auth->message.parts[1].content == R"({"url":"https://example.org/"})");
}

TEST_CASE("LineTurn: the agent gets a delegated task's result") {
  AgentBench bench;
  bench.python(R"PY(
import json, sys
sys.stdin.readline()
print(json.dumps({"type": "delegate", "id": "d1", "agent": "helper", "message": "do it"}))
answer = json.loads(sys.stdin.readline())
print(json.dumps({"type": "delegate", "id": "d2", "agent": "nobody", "message": "do it"}))
refusal = json.loads(sys.stdin.readline())
print(json.dumps({"type": "done", "message": answer["task"]["status"]["state"] + " " + refusal["error"]}))
)PY");
  auto running = bench.start(AgentBench::turn_of("x"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 1; }));
  CHECK(running.sink->delegates()[0].agent == "helper");
  CHECK(running.sink->delegates()[0].message.role == task::Role::user);
  task::Task child;
  child.id = {"child"};
  child.status.state = task::State::completed;
  running.turn->deliver({"d1", child, {}});
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 2; }));
  running.turn->deliver({"d2", std::nullopt, "no such agent"});
  REQUIRE(running.sink->wait_finished());
  const auto* done = running.sink->outcome_as<agents::Done>();
  REQUIRE_MESSAGE(done != nullptr, running.sink->ending());
  CHECK(task::text_of(*done->message) == "TASK_STATE_COMPLETED no such agent");
}

TEST_CASE("LineTurn: an agent that stops after a cancel ends its turn as canceled") {
  AgentBench bench;
  bench.python(R"PY(
import json, sys
sys.stdin.readline()
print(json.dumps({"type": "text", "delta": "working"}))
line = json.loads(sys.stdin.readline())
print(json.dumps({"type": "fail", "error": line["type"]}))
)PY");
  auto running = bench.start(AgentBench::turn_of("x"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
  running.turn->cancel();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "canceled");
}

TEST_CASE("LineTurn: callers do not see standard error or lines printed by mistake") {
  AgentBench bench;
  bench.settings.verbose_errors = false;
  SUBCASE("standard error") {
    bench.shell("echo secret >&2; exit 3");
    CHECK(bench.run("x")->ending() ==
          "the agent exited without an answer (exit code 3); for details, see the log for task task-1");
  }
  SUBCASE("a line that is not JSON") {
    bench.settings.exit_grace = std::chrono::milliseconds(50);
    bench.shell("echo secret; sleep 1000");
    CHECK(bench.run("x")->ending() == "the agent printed a line that is not JSON");
  }
}

TEST_CASE("LineTurn: an agent without output in time fails the turn") {
  AgentBench bench;
  bench.settings.first_output = std::chrono::milliseconds(50);
  bench.shell("sleep 1000");
  CHECK(bench.run("x")->ending() == "the agent printed nothing for 0.05 seconds");
  CHECK(bench.wait_processes(0));
}

TEST_CASE("LineTurn: a turn that ends without an answer fails with the reason") {
  struct Case {
    const char* script;
    const char* ending;
  };
  const Case cases[] = {
      {"echo oops >&2; exit 3", "the agent exited without an answer (exit code 3: oops)"},
      {"exit 0", "the agent exited without a line of type \"done\" (exit code 0)"},
      {"kill -SEGV $$", "the agent exited without an answer (signal SEGV)"},
      {"exec >&-; read a; exit 4", "the agent exited without an answer (exit code 4)"},
      {"echo $PWD/agent.py is bad >&2; exit 1",
       "the agent exited without an answer (exit code 1: agent.py is bad)"},
      {"echo Hello; sleep 1000", "the agent printed a line that is not JSON: \"Hello\""},
      {"printf '\\303\\050\\n'; sleep 1000", "the agent printed a line that is not JSON: \"\\xc3(\""},
      {"echo '[1]'; sleep 1000",
       "the agent printed a line that violates the line protocol: a line must be a JSON object: \"[1]\""},
      {"echo '{\"type\":\"dance\"}'; sleep 1000",
       "the agent printed a line that violates the line protocol: unknown type \"dance\": "
       "\"{\"type\":\"dance\"}\""},
      {"echo '{\"type\":\"text\"}'; sleep 1000",
       "the agent printed a line that violates the line protocol: text: \"delta\" is missing: "
       "\"{\"type\":\"text\"}\""},
      {"echo '{\"type\":\"step\",\"name\":\"s\",\"phase\":\"finish\"}'; sleep 1000",
       "the agent printed a line that violates the line protocol: step: \"s\" has not started"},
      {"echo '{\"type\":\"done\",\"turn\":\"other\"}'; sleep 1000",
       "the agent named a turn that it was not given"},
      {"printf '{\"type\":\"fail\",\"error\":\"own words\"}'", "own words"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.script);
    AgentBench bench;
    const bool stays = std::string_view(one.script).ends_with("sleep 1000");
    if (stays) bench.settings.exit_grace = std::chrono::milliseconds(50);
    bench.shell(one.script);
    const auto sink = bench.run("x");
    CHECK(sink->ending() == one.ending);
    CHECK(sink->outcomes().size() == 1);
    CHECK(bench.wait_processes(0));
  }
}

TEST_CASE("LineTurn: a missing program fails the turn, and the error shows no path") {
  AgentBench bench;
  bench.settings.command = {"/nowhere/agent-x"};
  CHECK(bench.run("x")->ending() == "cannot start agent-x: No such file or directory");
  AgentBench other;
  other.settings.command = {"no-such-program-here"};
  CHECK(other.run("x")->ending() ==
        "cannot start no-such-program-here: it was not found in PATH or in the agent's folder");
}

TEST_CASE("LineTurn: a program whose interpreter is missing fails the turn with that reason") {
  AgentBench bench;
  const auto file = bench.folder.write("agent.py", "#!/usr/bin/no-such-interpreter\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  bench.settings.command = {"./agent.py"};
  CHECK(bench.run("x")->ending() ==
        "cannot start agent.py: the interpreter that its first line names was not found");
}

TEST_CASE("LineTurn: a program beside the card is found") {
  AgentBench bench;
  const auto file = bench.folder.write("own-agent", "#!/bin/sh\necho '{\"type\":\"done\"}'\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  bench.settings.command = {"own-agent"};
  CHECK(bench.run("x")->ending() == "done");
}

TEST_CASE("LineTurn: an agent that prints too much is ended") {
  AgentBench lines;
  lines.settings.output_max = 1 << 20;
  lines.shell("while :; do echo '{\"type\":\"text\",\"delta\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}'; done");
  CHECK(lines.run("x")->ending() == "the agent printed more than 1 MiB");
  CHECK(lines.wait_processes(0));

  AgentBench blanks;
  blanks.settings.output_max = 1 << 20;
  blanks.shell("yes ''");
  CHECK(blanks.run("x")->ending() == "the agent printed more than 1 MiB");
  CHECK(blanks.wait_processes(0));

  AgentBench line;
  line.settings.line_max = 1 << 20;
  line.shell("cat /dev/zero");
  CHECK(line.run("x")->ending() == "the agent printed a line longer than 1 MiB");
  CHECK(line.wait_processes(0));
}

TEST_CASE("LineTurn: output after the end is ignored, and a process that does not exit is killed") {
  AgentBench bench;
  bench.settings.exit_grace = std::chrono::milliseconds(50);
  bench.shell(R"SH(echo '{"type":"done"}'
while :; do echo '{"type":"text","delta":"late"}'; done)SH");
  const auto sink = bench.run("x");
  CHECK(bench.wait_processes(0));
  CHECK(sink->ending() == "done");
  CHECK(sink->all_text().empty());
  CHECK(sink->outcomes().size() == 1);
}

TEST_CASE("LineTurn: dropping a turn kills its whole process group and reaps it") {
  AgentBench bench;
  bench.shell("sleep 1000 & echo $! > child.pid; echo '{\"type\":\"text\",\"delta\":\"up\"}'; wait");
  auto running = bench.start(AgentBench::turn_of("x"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
  const pid_t grandchild = std::stoi(test::TempFolder::read(bench.folder.path() / "child.pid"));
  CHECK(kill(grandchild, 0) == 0);
  running.turn.reset();
  CHECK(bench.wait_processes(0));
  CHECK_FALSE(running.sink->finished());
  // Init reaps the grandchild at some later time. Until then it may be a zombie of another process.
  CHECK(test::eventually([status = "/proc/" + std::to_string(grandchild) + "/stat"] {
    const std::string text = test::TempFolder::read(status);
    return text.empty() || text.find(") Z") != std::string::npos;
  }));
  CHECK_FALSE(has_zombie());
}

TEST_CASE("LineTurn: while the sink has no room the agent's output is not read") {
  AgentBench bench;
  // Far more than a pipe holds, so the agent cannot end before its output is read.
  bench.python(R"PY(
import json, sys
sys.stdin.readline()
for i in range(20000):
    print(json.dumps({"type": "text", "delta": "%05d" % i}))
open("through", "w").close()
print(json.dumps({"type": "done"}))
)PY");
  auto sink = std::make_shared<test::RecordingSink>();
  sink->fill();
  auto running = bench.start_with(sink, AgentBench::turn_of("x"));
  REQUIRE(sink->wait_until([](const auto& one) { return one.refused_room(); }));
  CHECK(sink->text_now().size() < 65536);
  CHECK_FALSE(std::filesystem::exists(bench.folder.path() / "through"));
  sink->make_room();
  REQUIRE(sink->wait_finished());
  CHECK(sink->ending() == "done");
  CHECK(sink->all_text().size() == 100000);
}

TEST_CASE("LineTurn: the output of an agent that ends while the sink has no room is read completely") {
  AgentBench bench;
  bench.shell(R"SH(echo $$ > own.pid
echo '{"type":"text","delta":"a"}'
until [ -e go ]; do sleep 0.01; done
echo '{"type":"done"}')SH");
  auto sink = std::make_shared<test::RecordingSink>();
  sink->fill();
  auto running = bench.start_with(sink, AgentBench::turn_of("x"));
  REQUIRE(sink->wait_until([](const auto& one) { return one.refused_room(); }));
  bench.folder.write("go", "");
  const pid_t agent = std::stoi(test::TempFolder::read(bench.folder.path() / "own.pid"));
  CHECK(test::eventually([&] { return kill(agent, 0) != 0; }));
  CHECK_FALSE(sink->finished());
  sink->make_room();
  REQUIRE(sink->wait_finished());
  CHECK(sink->ending() == "done");
  CHECK(bench.wait_processes(0));
}

TEST_CASE("LineTurn: an agent that does not read its input fails once too much input is queued") {
  AgentBench bench;
  bench.shell("echo '{\"type\":\"text\",\"delta\":\"up\"}'; exec sleep 1000");
  auto running = bench.start(AgentBench::turn_of(std::string(1 << 20, 'x')));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
  task::Task child;
  child.artifacts.push_back({{"a"}, 0, {}, {}, {task::Part::of_text(std::string(1 << 20, 'y'))}, {}, {}});
  for (int i = 0; i < 20; ++i) running.turn->deliver({"d", child, {}});
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "the agent stopped reading its input");
  CHECK(bench.wait_processes(0));
}

}  // namespace line_turn_test
