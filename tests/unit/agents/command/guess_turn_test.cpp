#include <doctest/doctest.h>

#include <filesystem>

#include "support/agent_bench.h"

namespace guess_turn_test {

using namespace baton;
using baton::test::AgentBench;

namespace {

// A program whose output format is not known yet. It creates the file `ready` before it prints anything.
struct GuessBench : AgentBench {
  explicit GuessBench(std::string_view source) {
    settings.io = agents::AgentSettings::Io::guess;
    python(source);
  }
  // Runs a turn, cancels it once `ready` exists, and returns the text that the program prints then.
  std::string said_when_canceled() {
    auto running = start(turn_of("x"));
    REQUIRE(wait_ready());
    running.turn->cancel();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == "canceled");
    CHECK(wait_processes(0));
    return running.sink->all_text();
  }

 private:
  bool wait_ready() {
    return test::eventually([&] { return std::filesystem::exists(folder.path() / "ready"); });
  }
};

}  // namespace

TEST_CASE("GuessTurn: guessed as text and canceled before its first line, a turn can end as one of lines") {
  GuessBench bench(R"PY(
import json, pathlib, signal, sys, time
def stop(*_):
    print(json.dumps({"type": "text", "delta": "I stop"}))
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
pathlib.Path("ready").touch()
while True:
    time.sleep(0.01)
)PY");
  CHECK(bench.said_when_canceled() == "I stop");
}

TEST_CASE("GuessTurn: guessed as lines and canceled before its first line, a turn can end as one of text") {
  GuessBench bench(R"PY(
import json, pathlib, sys, time
sys.stdin.readline()
pathlib.Path("ready").touch()
if "cancel" in sys.stdin.readline():
    sys.stdout.write("I stop\n")  # in one write: at its first character the program is taken for one of text, and ended
else:
    print(json.dumps({"type": "done"}))
while True:
    time.sleep(0.01)
)PY");
  CHECK(bench.said_when_canceled() == "I stop\n");
}

}  // namespace guess_turn_test
