// AgentBench: a ProcessHost, a folder with scripts, and the turns of one command agent, for tests.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "agents/command/command_executor.h"
#include "agents/command/process_host.h"
#include "support/patience.h"
#include "support/recording_sink.h"
#include "support/temp_folder.h"

namespace baton::test {

struct RunningTest {
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  std::unique_ptr<agents::Execution> turn;
};

// Blocks all threads for slow work of a host until it is released or destroyed.
class HeldSlowWork {
 public:
  explicit HeldSlowWork(agents::ProcessHost& host) {
    for (int i = 0; i < 2; ++i) {
      const bool queued = host.slow_work().try_submit([released = released_, held = held_] {
        ++*held;
        while (!*released) std::this_thread::yield();
      });
      if (!queued) throw std::runtime_error("no slow work is accepted");
    }
  }
  ~HeldSlowWork() { release(); }
  void release() { *released_ = true; }
  // Waits until all these threads are blocked.
  void wait_held() const {
    while (*held_ < 2) std::this_thread::yield();
  }

 private:
  const std::shared_ptr<std::atomic<bool>> released_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<std::atomic<int>> held_ = std::make_shared<std::atomic<int>>(0);
};

class AgentBench {
 public:
  AgentBench() {
    // Programs that end by themselves get plenty of time; tests of programs that do not end set less.
    settings.exit_grace = patience();
    settings.cancel_grace = patience();
    settings.verbose_errors = true;  // so that a failing test reports the reason
  }

  // The agent is this Python program.
  void python(std::string_view text) {
    folder.write("agent.py", text);
    settings.command = {"python3", "-u", "agent.py"};
  }
  void shell(std::string text) { settings.command = {"sh", "-c", std::move(text)}; }

  agents::CommandExecutor& executor() {
    if (!executor_) {
      executor_ =
          std::make_unique<agents::CommandExecutor>(host, task::AgentName{"probe"}, settings, folder.path());
    }
    return *executor_;
  }

  static agents::Turn turn_of(std::string text, std::string id = "turn-1") {
    agents::Turn turn;
    turn.id = std::move(id);
    turn.agent = {"probe"};
    turn.task = {"task-1"};
    turn.context = {"context-1"};
    turn.message.id = {"m1"};
    turn.message.parts = {task::Part::of_text(std::move(text))};
    return turn;
  }

  RunningTest start(agents::Turn turn) {
    return start_with(std::make_shared<RecordingSink>(), std::move(turn));
  }
  RunningTest start_with(std::shared_ptr<RecordingSink> sink, agents::Turn turn) {
    RunningTest running{std::move(sink), nullptr};
    running.turn = executor().start(std::move(turn), running.sink);
    return running;
  }
  // Runs a turn to its end.
  std::shared_ptr<RecordingSink> run(std::string text) {
    RunningTest running = start(turn_of(std::move(text)));
    running.sink->wait_finished();
    return running.sink;
  }

  // Waits until at least `at_least` processes run; false on timeout.
  bool wait_count(std::size_t at_least) {
    return eventually([&] { return host.process_count() >= at_least; });
  }

  // Waits until at most `at_most` processes run; false on timeout.
  bool wait_processes(std::size_t at_most) {
    return eventually([&] { return host.process_count() <= at_most; });
  }

  TempFolder folder;
  agents::AgentSettings settings;
  agents::ProcessHost host;

 private:
  std::unique_ptr<agents::CommandExecutor> executor_;
};

}  // namespace baton::test
