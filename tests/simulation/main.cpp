// baton_simulation: runs seeds, each twice, and says which break a promise. See tests/README.md.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>

#include "world.h"

namespace baton::simulation {
namespace {

struct Options {
  std::int64_t seeds = 1'000, first = 1, steps = 2'000;
  int jobs = 2;
  double seconds = 0;        // takes no more seeds after; 0: no limit
  bool replay = false;       // run one seed and print what happened
  bool all_marks = false;    // every mark must have been reached
  bool plans = false;        // every seed has them
  int nodes = 1;             // how many share the store
  bool to_be_found = false;  // a fault is planted: a seed must find it
};

// Lives in memory that the processes of the batch share.
struct Shared {
  MarkCounts marks;
  std::atomic<std::int64_t> next, done, steps, failed, first_failed;
  std::atomic<std::int64_t> current[64];
};
Shared* shared = nullptr;

// The number of seeds in one process. Limited, because what a killed Baton owned is never freed.
constexpr int kSeedsOfProcess = 40;

struct Outcome {
  std::uint64_t trace = 0;
  std::int64_t steps = 0;
  std::string violation;  // empty: none
};

Outcome simulate(std::uint64_t seed, const Options& options) {
  Outcome outcome;
  World world(seed, options.steps, options.plans, options.nodes);
  try {
    world.run();
  } catch (const Violation& violation) {
    outcome.violation = violation.what;
  }
  outcome.trace = world.fibers.trace();
  outcome.steps = world.fibers.steps();
  return outcome;
}

// Runs the seed twice. Returns what is wrong with it, or an empty string.
std::string judge(std::int64_t seed, const Options& options) {
  const Outcome once = simulate(static_cast<std::uint64_t>(seed), options);
  shared->steps += once.steps;
  if (options.replay) {
    std::printf("seed %lld: trace %016llx, %lld steps\n", static_cast<long long>(seed),
                static_cast<unsigned long long>(once.trace), static_cast<long long>(once.steps));
  }
  if (!once.violation.empty()) return "step " + std::to_string(once.steps) + ": " + once.violation;
  const Outcome twice = simulate(static_cast<std::uint64_t>(seed), options);
  shared->steps += twice.steps;
  if (once.trace == twice.trace) return {};
  return "two runs have different traces, of " + std::to_string(once.steps) + " and " +
         std::to_string(twice.steps) + " steps " + twice.violation;
}

void report(std::int64_t seed, const std::string& wrong) {
  std::int64_t none = 0;
  shared->first_failed.compare_exchange_strong(none, seed);
  if (++shared->failed <= 10) {
    std::printf("seed %lld: %s\n", static_cast<long long>(seed), wrong.c_str());
    std::fflush(stdout);
  }
}

bool is_time_over(const Options& options, std::chrono::steady_clock::time_point began) {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  return options.seconds > 0 && taken.count() > options.seconds;
}

// Runs in a process of its own.
void do_seeds(const Options& options, int slot, std::chrono::steady_clock::time_point began) {
  mark_counts = &shared->marks;
  for (int left = kSeedsOfProcess; left > 0; --left) {
    if (is_time_over(options, began) || (options.to_be_found && shared->failed > 0)) return;
    const std::int64_t seed = shared->next++;
    if (seed >= options.first + options.seeds) return;
    shared->current[slot] = seed;
    if (const std::string wrong = judge(seed, options); !wrong.empty()) report(seed, wrong);
    ++shared->done;
    shared->current[slot] = 0;
  }
}

void run_batch(const Options& options, std::chrono::steady_clock::time_point began) {
  std::map<pid_t, int> workers;
  const auto more = [&] {
    return shared->next < options.first + options.seeds && !is_time_over(options, began) &&
           !(options.to_be_found && shared->failed > 0);
  };
  for (int slot = 0; slot < options.jobs || !workers.empty();) {
    if (slot < options.jobs) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        do_seeds(options, slot, began);
        std::fflush(stdout);
        std::_Exit(0);
      }
      workers[child] = slot++;
      continue;
    }
    int status = 0;
    const pid_t ended = wait(&status);
    const int freed = workers.extract(ended).mapped();
    if (status != 0) {
      const std::int64_t seed = shared->current[freed].exchange(0);
      report(seed, "the simulator died with status " + std::to_string(status));
      ++shared->done;
    }
    if (!more()) continue;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      do_seeds(options, freed, began);
      std::fflush(stdout);
      std::_Exit(0);
    }
    workers[child] = freed;
  }
}

int unreached_marks(bool print, bool of_nodes) {
  int unreached = 0;
  const std::size_t first = of_nodes ? kFirstOfNodes : 0, end = of_nodes ? kMarks : kFirstOfNodes;
  for (std::size_t mark = first; mark < end; ++mark) {
    const std::uint64_t count = shared->marks[mark];
    if (count == 0) {
      ++unreached;
      std::printf("never reached: %s\n", kMarkNames[mark].data());
    } else if (print) {
      std::printf("%12llu %s\n", static_cast<unsigned long long>(count), kMarkNames[mark].data());
    }
  }
  return unreached;
}

int run(const Options& options) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  shared = new (memory) Shared();
  shared->next = options.first;
  const auto began = std::chrono::steady_clock::now();
  if (options.replay) {
    mark_counts = &shared->marks;
    const std::string wrong = judge(options.first, options);
    if (!wrong.empty()) std::printf("seed %lld: %s\n", static_cast<long long>(options.first), wrong.c_str());
    return wrong.empty() ? 0 : 1;
  }
  run_batch(options, began);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  const auto done = static_cast<double>(shared->done);
  std::printf("%lld seeds, each twice, %.1f M steps in %.1f s: %.1f seeds/s, %.0f seeds an hour\n",
              static_cast<long long>(shared->done), static_cast<double>(shared->steps) / 1e6, taken.count(),
              done / taken.count(), done / taken.count() * 3600);
  if (options.to_be_found) {
    const std::int64_t seed = shared->first_failed;
    std::printf(seed > 0 ? "found by seed %lld\n" : "not found (%lld)\n", static_cast<long long>(seed));
    std::printf("%d passed, %d failed\n", seed > 0 ? 1 : 0, seed > 0 ? 0 : 1);
    return seed > 0 ? 0 : 1;
  }
  // A batch that was cut short need not reach all marks.
  const bool whole = shared->done >= options.seeds;
  const int unreached = options.all_marks && whole ? unreached_marks(true, options.nodes > 1) : 0;
  const long long failed = shared->failed + unreached;
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(shared->done - shared->failed), failed);
  return failed == 0 && shared->done > 0 ? 0 : 1;
}

Options parse(int count, char** words) {
  Options options;
  for (int at = 1; at < count; ++at) {
    const std::string word = words[at];
    const bool has_value = at + 1 < count;
    if (word == "--marks") {
      options.all_marks = true;
    } else if (word == "--plans") {
      options.plans = true;
    } else if (word == "--to-be-found") {
      options.to_be_found = true;
    } else if (has_value && word == "--nodes") {
      options.nodes = std::clamp(std::atoi(words[++at]), 1, 9);
    } else if (has_value && word == "--seeds") {
      options.seeds = std::atoll(words[++at]);
    } else if (has_value && word == "--first") {
      options.first = std::atoll(words[++at]);
    } else if (has_value && word == "--steps") {
      options.steps = std::atoll(words[++at]);
    } else if (has_value && word == "--jobs") {
      options.jobs = std::clamp(std::atoi(words[++at]), 1, 64);
    } else if (has_value && word == "--seconds") {
      options.seconds = std::atof(words[++at]);
    } else if (has_value && word == "--replay") {
      options.replay = true;
      options.first = std::atoll(words[++at]);
    } else {
      std::fprintf(stderr,
                   "usage: baton_simulation [--seeds N] [--first SEED] [--steps N] [--jobs N] [--seconds S]\n"
                   "                        [--nodes N] [--plans] [--marks] [--to-be-found]\n"
                   "                        | --replay SEED [--steps N] [--nodes N] [--plans]\n");
      std::exit(2);
    }
  }
  return options;
}

}  // namespace
}  // namespace baton::simulation

int main(int count, char** words) {
  // Each killed engine leaks a descriptor.
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto options = baton::simulation::parse(count, words);
  spdlog::set_level(options.replay && std::getenv("SIMULATION_LOG") != nullptr ? spdlog::level::debug
                                                                               : spdlog::level::off);
  return baton::simulation::run(options);
}
