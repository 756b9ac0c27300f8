// The SqliteStore must not lose flushed changes when the program is killed or the disk is full.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>

#include "base/unique_fd.h"
#include "contract/store_bench.h"

namespace store_durability_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;

namespace {

struct Acknowledged {
  std::int64_t task;
  std::int64_t number;
};

// Writes groups until the process is killed. Writes each acknowledgement into the pipe once its group is
// flushed.
[[noreturn]] void commit_for_ever(const std::string& path, int pipe) {
  const base::SystemClock clock;
  store::SqliteOptions options;
  options.path = path;
  auto opened = store::SqliteStore::open(options, clock);
  if (!opened) _exit(1);
  store::SqliteStore& store = **opened;
  constexpr int kTasks = 4;
  std::array<store::TaskRow, kTasks> rows;
  for (int i = 0;; ++i) {
    for (int t = 0; t < kTasks; ++t) {
      store::TaskRow& row = rows[static_cast<std::size_t>(t)];
      task::Change change;
      if (i % 50 == 0) {
        row = {};
        change =
            StoreBench::creation(std::to_string(getpid()) + "-" + std::to_string(t) + "-" + std::to_string(i),
                                 {status(task::State::submitted)});
      } else {
        change = StoreBench::change(row.head, {delta("r", std::string(100, 'x')), user("m")});
      }
      if (!store.apply(change, row)) _exit(2);
    }
    if (!store.commit() || !store.flush()) _exit(2);
    for (const store::TaskRow& row : rows) {
      const Acknowledged acknowledged{row.head.key.value, row.head.last_event.value};
      if (::write(pipe, &acknowledged, sizeof acknowledged) != sizeof acknowledged) _exit(3);
    }
  }
}

// Lets a child commit until it has acknowledged `count` changes, kills it, and returns the highest number
// acknowledged for each task.
std::map<std::int64_t, std::int64_t> commit_and_kill(const std::string& path, int count) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const base::UniqueFd from(ends[0]);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) commit_for_ever(path, ends[1]);
  ::close(ends[1]);

  std::map<std::int64_t, std::int64_t> heard;
  Acknowledged next;
  for (int i = 0; ::read(from.get(), &next, sizeof next) == sizeof next; ++i) {
    heard[next.task] = std::max(heard[next.task], next.number);
    if (i == count) ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  return heard;
}

// Simulates a full disk: while this object exists, no file of this process can grow beyond `bytes`.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*old_handler_)(int) = nullptr;
};

// Makes all later flushes of this process fail.
void break_flushes() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fdatasync, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(2);
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) _exit(3);
}

}  // namespace

TEST_CASE("SqliteStore: acknowledged changes survive a kill") {
  SqliteBench bench;
  for (int round = 0; round < 4; ++round) {
    bench.close();
    const auto heard = commit_and_kill(bench.path(), 100 + 130 * round);
    bench.open();
    CHECK(heard.size() >= 4);
    for (const auto& [key, number] : heard) {
      const task::TaskHead head = bench.head({key});
      CHECK(head.last_event.value >= number);
      const std::vector<task::Event> log = bench.log(head);
      CHECK(consecutive(log));
      CHECK(static_cast<std::int64_t>(log.size()) == head.last_event.value);
    }
  }
}

TEST_CASE("SqliteStore: a full disk loses no acknowledged change, and the store recovers") {
  SqliteBench bench;
  const task::TaskHead head = bench.create("t1");
  int acknowledged = 0;
  const auto append = [&]() -> base::Result<void> {
    task::Change change = StoreBench::change(head, {chunk("a", std::string(9'000, 'x'), true)});
    const auto applied = bench.apply(change);
    auto committed = applied ? bench.tasks->commit() : base::fail(applied.error());
    if (!committed) bench.rows.clear();
    return committed;
  };
  ErrorCode refusal{};
  {
    const FullDisk full(std::filesystem::file_size(bench.path() + "-wal") + 200'000);
    for (int i = 0; i < 200; ++i) {
      const auto result = append();
      if (result) {
        ++acknowledged;
        continue;
      }
      refusal = result.error().code;
      CHECK(result.error().for_caller.find("/") == std::string::npos);
      if (i > 100) break;
    }
    CHECK(acknowledged > 5);
    CHECK(refusal == ErrorCode::unavailable);
    CHECK(bench.read(head).artifacts.at(0).parts.size() >= static_cast<std::size_t>(acknowledged));
  }
  for (int i = 0; i < 10; ++i) {
    CHECK(append().has_value());
    ++acknowledged;
  }
  for (int pass = 0; pass < 2; ++pass) {
    const std::vector<task::Event> log = bench.log(head);
    CHECK(consecutive(log));
    CHECK(static_cast<int>(log.size()) == 2 + acknowledged);
    CHECK(static_cast<int>(bench.read(head).artifacts.at(0).parts.size()) == acknowledged);
    bench.reopen();
  }
}

TEST_CASE("SqliteStore: an empty commit fails if the disk refuses writes, and changes nothing") {
  SqliteBench bench;
  const task::TaskHead head = bench.create("t1");
  CHECK(bench.tasks->commit());
  {
    const FullDisk full(1);
    const auto refused = bench.tasks->commit();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::unavailable);
  }
  CHECK(bench.tasks->commit());
  bench.reopen();
  CHECK(bench.read(head).id == head.id);
}

TEST_CASE("SqliteStore: a flush that the disk refuses fails, and earlier flushed changes are kept") {
  SqliteBench bench;
  const task::TaskHead head = bench.create("t1");
  succeed(bench.tasks->flush());
  bench.close();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bench.open();
    bench.must(head, {user("m2")});  // SQLite itself flushes the beginning of a write-ahead log
    break_flushes();
    bench.must(head, {user("m3")});
    const auto flushed = bench.tasks->flush();
    _exit(!flushed && flushed.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  bench.open();
  CHECK(bench.log(head).size() >= 2);
}

}  // namespace store_durability_test
