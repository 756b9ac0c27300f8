#include <doctest/doctest.h>

#include "support/agent_bench.h"

namespace text_turn_test {

using namespace baton;
using baton::test::AgentBench;

namespace {

struct TextBench : AgentBench {
  explicit TextBench(std::string script) {
    settings.io = agents::AgentSettings::Io::text;
    shell(std::move(script));
  }
};

}  // namespace

TEST_CASE("TextTurn: the message's text is the input, and the output is the reply") {
  TextBench bench("tr a-z A-Z");
  const auto sink = bench.run("h\xC3\xA9llo\nworld");
  CHECK(sink->all_text() == "H\xC3\xA9LLO\nWORLD\n");
  CHECK(sink->ending() == "done");
  CHECK(sink->outcome_as<agents::Done>()->message == std::nullopt);
  CHECK(bench.wait_processes(0));
}

TEST_CASE("TextTurn: the input ends with one line end, so that a program reading lines gets the last line") {
  TextBench bench("while read -r line; do echo \"<$line>\"; done");
  CHECK(bench.run("a\nb")->all_text() == "<a>\n<b>\n");
  CHECK(bench.run("a\nb\n")->all_text() == "<a>\n<b>\n");
}

TEST_CASE("TextTurn: data and files become files whose paths are arguments, removed with the turn") {
  TextBench bench("for file; do echo \"$file $(cat \"$file\")\"; done");
  bench.settings.command.push_back("sh");
  agents::Turn turn = AgentBench::turn_of("text");
  turn.message.parts.push_back({task::Part::Kind::raw, "aGVsbG8=", "../../-x; rm *.txt", "text/plain", {}});
  turn.message.parts.push_back(task::Part::of_data({R"({"a": 1})"}));
  auto running = bench.start(std::move(turn));
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  const std::string said = running.sink->all_text();
  CHECK(said.find("/1-.._.._-x__rm__.txt hello\n") != std::string::npos);
  CHECK(said.find("/2-data.json {\"a\": 1}\n") != std::string::npos);
  const std::string first = said.substr(0, said.find(' '));
  REQUIRE(std::filesystem::path(first).is_absolute());
  running.turn.reset();
  CHECK(bench.wait_processes(0));
  const auto folder = std::filesystem::path(first).parent_path();
  CHECK(test::eventually([&] { return !std::filesystem::exists(folder); }));
}

TEST_CASE("TextTurn: a file by URL and broken base64 are rejected with advice") {
  TextBench bench("echo started");
  agents::Turn turn = AgentBench::turn_of("text");
  SUBCASE("URL") {
    turn.message.parts.push_back({task::Part::Kind::url, "https://example.com/x", {}, {}, {}});
  }
  SUBCASE("base64") {
    turn.message.parts.push_back({task::Part::Kind::raw, "%", {}, {}, {}});
  }
  auto running = bench.start(std::move(turn));
  REQUIRE(running.sink->wait_finished());
  REQUIRE(running.sink->outcome_as<agents::Rejected>() != nullptr);
  CHECK_FALSE(running.sink->outcome_as<agents::Rejected>()->reason.empty());
  CHECK(running.sink->all_text().empty());
}

TEST_CASE("TextTurn: Python's output is not buffered") {
  TextBench bench("");
  bench.settings.command = {"python3", "-c",
                            "import sys; print('up'); sys.stdin.read(); import time; time.sleep(1000)"};
  auto running = bench.start(AgentBench::turn_of("x"));
  CHECK(running.sink->wait_until([](const auto& sink) { return sink.all_text() == "up\n"; }));
}

TEST_CASE("TextTurn: an exit code other than 0 fails the turn with the end of standard error") {
  TextBench bench("echo part; echo first >&2; echo 'no such table' >&2; exit 2");
  const auto sink = bench.run("x");
  CHECK(sink->all_text() == "part\n");
  CHECK(sink->ending() == "the agent failed (exit code 2: no such table)");
  REQUIRE(sink->events().size() == 1);
  CHECK(std::get<task::ExecutorState>(sink->events().front()).errors == "first\nno such table");
}

TEST_CASE("TextTurn: death by a signal fails the turn") {
  TextBench bench("kill -TERM $$");
  CHECK(bench.run("x")->ending() == "the agent failed (signal TERM)");
}

TEST_CASE("TextTurn: a character split between two reads stays whole, broken bytes are replaced") {
  // The program waits until the first half has arrived. Otherwise both halves could arrive in one read.
  TextBench bench("printf 'a\\303'; until [ -e go ]; do sleep 0.01; done; printf '\\251b\\377c\\342\\202'");
  auto running = bench.start(AgentBench::turn_of("x"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.all_text() == "a"; }));
  bench.folder.write("go", "");
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->all_text() ==
        "a\xC3\xA9"
        "b\xEF\xBF\xBD"
        "c\xEF\xBF\xBD");
  CHECK(running.sink->ending() == "done");
}

TEST_CASE("TextTurn: a program that does not read its input works") {
  TextBench bench("exec 0<&-; echo fine");
  const auto sink = bench.run(std::string(4 << 20, 'x'));
  CHECK(sink->all_text() == "fine\n");
  CHECK(sink->ending() == "done");
}

TEST_CASE("TextTurn: a large input and output pass even when both pipes are full") {
  TextBench bench("cat");
  const std::string large(8 << 20, 'y');
  const auto sink = bench.run(large);
  CHECK(sink->all_text() == large + "\n");
  CHECK(sink->ending() == "done");
}

TEST_CASE("TextTurn: cancel ends the program") {
  TextBench bench("echo up; exec sleep 1000");
  auto running = bench.start(AgentBench::turn_of("x"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
  running.turn->cancel();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "canceled");
  CHECK(bench.wait_processes(0));
}

TEST_CASE("TextTurn: a program that ignores a cancel is killed when the turn is dropped") {
  TextBench bench("trap '' TERM; echo up; while :; do sleep 0.05; done");
  auto running = bench.start(AgentBench::turn_of("x"));
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
  running.turn->cancel();
  running.turn.reset();
  CHECK(bench.wait_processes(0));
  CHECK_FALSE(running.sink->finished());
}

TEST_CASE("TextTurn: a program that prints too much is ended") {
  TextBench bench("cat /dev/zero");
  bench.settings.output_max = 1 << 20;
  CHECK(bench.run("x")->ending() == "the agent printed more than 1 MiB");
  CHECK(bench.wait_processes(0));
}

}  // namespace text_turn_test
