// The cost of one process for each turn without Baton: starts a program repeatedly, several at the same time,
// writes a line to it, reads its output to the end and waits for it. Prints one JSON object.
//
// usage: baton_bench_process_start PARALLEL SECONDS FOLDER LINE PROGRAM [ARGUMENT]...
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    if (pipe2(end, O_CLOEXEC) != 0) std::abort();
  }
  int end[2];
};

// Returns the number of bytes that the program wrote.
std::size_t run_once(char** program, const char* folder, const std::string& line) {
  Pipe in, out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.end[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.end[1], 1);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  // The process gets its own session, like Baton's agents, because the kernel schedules by session.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const bool started = posix_spawnp(&pid, program[0], &actions, &attributes, program, environ) == 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(in.end[0]);
  close(out.end[1]);
  std::size_t said = 0;
  if (started && write(in.end[1], line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    char buffer[4096];
    for (ssize_t size = 0; (size = read(out.end[0], buffer, sizeof buffer)) > 0;) {
      said += static_cast<std::size_t>(size);
    }
  }
  close(in.end[1]);
  close(out.end[0]);
  int status = 1;
  if (started) waitpid(pid, &status, 0);
  return status == 0 ? said : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s PARALLEL SECONDS FOLDER LINE PROGRAM [ARGUMENT]...\n", argv[0]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const std::string line = std::string(argv[4]) + "\n";
  const double seconds = std::atof(argv[2]);
  std::atomic<int> count = 0, failures = 0;
  const auto began = Clock::now();
  const auto end = began + std::chrono::milliseconds(static_cast<int>(seconds * 1000));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < std::max(1, std::atoi(argv[1])); ++i) {
      threads.emplace_back([&] {
        while (Clock::now() < end) ++(run_once(argv + 5, argv[3], line) > 0 ? count : failures);
      });
    }
  }
  const double took = std::chrono::duration<double>(Clock::now() - began).count();
  std::printf("{\"count\":%d,\"failures\":%d,\"seconds\":%.3f}\n", count.load(), failures.load(), took);
  return 0;
}
