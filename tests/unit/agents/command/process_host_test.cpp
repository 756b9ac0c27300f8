#include "agents/command/process_host.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "agents/command/process.h"
#include "support/agent_bench.h"
#include "support/growth.h"

namespace process_host_test {

using namespace baton;
using baton::test::AgentBench;

namespace {

// Whether this process has a child that has ended and was not reaped.
bool has_zombie() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// A process whose standard input is a pipe of the test, with so many bytes that wait in it and for it. To be
// used and destroyed on the host's thread.
class SlowReader {
 public:
  SlowReader(agents::ProcessHost& host, std::size_t bytes) {
    int ends[2] = {-1, -1};
    CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    agents::Child child;
    reader_.reset(ends[0]);
    child.input.reset(ends[1]);
    process_ =
        std::make_shared<agents::Process>(host, std::move(child), base::LogMembers(), nullptr, nullptr);
    CHECK(process_->write(std::string(bytes, 'x')));
  }
  ~SlowReader() {
    reader_.reset();
    process_->write("x");  // which fails, so that the host forgets the pipe
  }
  SlowReader(const SlowReader&) = delete;
  SlowReader& operator=(const SlowReader&) = delete;

  // Reads some bytes, and writes as many.
  void step() {
    const ssize_t got = ::read(reader_.get(), buffer_.data(), buffer_.size());
    process_->write(std::string(static_cast<std::size_t>(std::max<ssize_t>(got, 0)), 'x'));
  }
  static constexpr std::size_t kStep = 4096;  // frees room in the pipe

 private:
  base::UniqueFd reader_;
  std::shared_ptr<agents::Process> process_;
  std::array<char, kStep> buffer_{};
};

}  // namespace

TEST_CASE("Process: input for a slow reader costs time in proportion to its length") {
  agents::ProcessHost host;
  std::promise<void> over;
  host.post([&] {
    test::check_growth("input", 256 << 10, [&](std::size_t size) -> test::Work {
      const auto reader = std::make_shared<SlowReader>(host, size);
      return [reader, size] {
        for (std::size_t moved = 0; moved < size; moved += SlowReader::kStep) reader->step();
      };
    });
    over.set_value();
  });
  over.get_future().wait();
}

TEST_CASE("ProcessHost: two hundred turns leave no process and no descriptor behind") {
  AgentBench bench;
  bench.shell("read line; echo '{\"type\":\"done\"}'");
  bench.run("warm up");
  REQUIRE(bench.wait_processes(0));
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 10; ++round) {
    std::vector<test::RunningTest> turns;
    for (int i = 0; i < 20; ++i)
      turns.push_back(bench.start(AgentBench::turn_of("x", "t" + std::to_string(i))));
    for (auto& one : turns) {
      REQUIRE(one.sink->wait_finished());
      CHECK(one.sink->ending() == "done");
    }
  }
  REQUIRE(bench.wait_processes(0));
  CHECK(open_descriptors() == before);
  CHECK_FALSE(has_zombie());
}

TEST_CASE("ProcessHost: turns dropped at any moment leave nothing behind and do not call their sinks") {
  AgentBench bench;
  bench.shell(
      "read line; for i in 1 2 3 4 5 6 7 8; do echo '{\"type\":\"text\",\"delta\":\"x\"}'; done; sleep 1000");
  std::vector<std::pair<std::shared_ptr<test::RecordingSink>, std::string>> heard;
  for (int i = 0; i < 40; ++i) {
    auto running = bench.start(AgentBench::turn_of("x"));
    const auto wanted = static_cast<std::size_t>(i % 9);
    running.sink->wait_until([&](const auto& sink) { return sink.text_calls() >= wanted; });
    running.turn.reset();
    heard.emplace_back(running.sink, running.sink->text_now());
  }
  CHECK(bench.wait_processes(0));
  for (const auto& [sink, text] : heard) CHECK(sink->text_now() == text);
  CHECK_FALSE(has_zombie());
}

TEST_CASE("ProcessHost: its destructor kills and reaps processes that still run") {
  {
    AgentBench bench;
    bench.shell("echo $$ > own.pid; echo '{\"type\":\"text\",\"delta\":\"up\"}'; sleep 1000");
    auto running = bench.start(AgentBench::turn_of("x"));
    REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
    running.turn.reset();
  }
  CHECK_FALSE(has_zombie());
}

}  // namespace process_host_test
