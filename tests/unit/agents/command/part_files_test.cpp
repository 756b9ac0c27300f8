#include "agents/command/part_files.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "support/agent_bench.h"

namespace part_files_test {

using namespace baton;
using baton::test::AgentBench;

namespace {

// While one exists, TMPDIR is an empty folder of its own.
class OwnTemporaryFolder {
 public:
  OwnTemporaryFolder() { setenv("TMPDIR", folder_.path().c_str(), 1); }
  ~OwnTemporaryFolder() {
    if (before_.empty()) {
      unsetenv("TMPDIR");
    } else {
      setenv("TMPDIR", before_.c_str(), 1);
    }
  }
  bool is_empty() const { return std::filesystem::is_empty(folder_.path()); }

 private:
  const std::string before_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
  test::TempFolder folder_;
};

task::Message message_of(int files, const std::string& name = "a.txt") {
  task::Message message;
  for (int i = 0; i < files; ++i)
    message.parts.push_back({task::Part::Kind::raw, "aGVsbG8=", name, "text/plain", {}});
  return message;
}

}  // namespace

TEST_CASE("PartFiles: a message with more files than allowed is refused before any is written") {
  const OwnTemporaryFolder folder;
  agents::PartFiles files(message_of(3), {.files_max = 2});
  const auto written = files.write();
  REQUIRE_FALSE(written);
  CHECK(written.error().code == base::ErrorCode::too_large);
  CHECK(written.error().for_caller ==
        "the message has 3 files and data parts, but this agent accepts at most 2");
  CHECK(folder.is_empty());
}

TEST_CASE("PartFiles: paths that are longer than allowed together are refused before any file is written") {
  const OwnTemporaryFolder folder;
  agents::PartFiles files(message_of(30, std::string(100, 'n')), {.arguments_max = 3'000});
  const auto written = files.write();
  REQUIRE_FALSE(written);
  CHECK(written.error().code == base::ErrorCode::too_large);
  CHECK(written.error().for_caller.find("accepts at most 3000") != std::string::npos);
  CHECK(folder.is_empty());
}

TEST_CASE("PartFiles: a thousand files fit the defaults, and are removed with the object") {
  const OwnTemporaryFolder folder;
  {
    agents::PartFiles files(message_of(1'000), {});
    CHECK(files.write());
    CHECK(files.paths().size() == 1'000);
    CHECK_FALSE(folder.is_empty());
  }
  CHECK(folder.is_empty());
}

TEST_CASE("PartFiles: after a stop no file is written") {
  const OwnTemporaryFolder folder;
  agents::PartFiles files(message_of(3), {});
  files.stop();
  CHECK_FALSE(files.write());
  CHECK(files.paths().empty());
}

TEST_CASE("TextTurn: too many files fail the turn with a reason that names the limit") {
  AgentBench bench;
  bench.settings.io = agents::AgentSettings::Io::text;
  bench.settings.part_files.files_max = 1;
  bench.shell("echo started");
  agents::Turn turn = AgentBench::turn_of("text");
  turn.message = message_of(2);
  auto running = bench.start(std::move(turn));
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "the message has 2 files and data parts, but this agent accepts at most 1");
  CHECK(running.sink->all_text().empty());
}

TEST_CASE(
    "TextTurn: other turns run while files wait to be written, and a cancel leaves no file or process") {
  AgentBench bench;
  const OwnTemporaryFolder folder;
  bench.settings.io = agents::AgentSettings::Io::text;
  bench.shell("echo started");
  test::HeldSlowWork held(bench.host);
  agents::Turn turn = AgentBench::turn_of("text", "turn-with-files");
  turn.message = message_of(10);
  auto with_files = bench.start(std::move(turn));
  CHECK(bench.run("text")->ending() == "done");
  with_files.turn->cancel();
  REQUIRE(with_files.sink->wait_finished());
  CHECK(with_files.sink->ending() == "canceled");
  with_files.turn.reset();
  CHECK(bench.wait_processes(0));
  held.release();
  // Once both threads are blocked again, they have done all earlier work.
  test::HeldSlowWork behind(bench.host);
  behind.wait_held();
  CHECK(bench.host.process_count() == 0);
  CHECK(with_files.sink->all_text().empty());
  CHECK(folder.is_empty());
}

}  // namespace part_files_test
