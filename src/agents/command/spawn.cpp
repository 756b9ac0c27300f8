#include "agents/command/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace baton::agents {
namespace {

using base::UniqueFd;

struct Pipe {
  UniqueFd read;
  UniqueFd write;

  // Opens both ends above the standard streams, so that setting those up in the child overwrites neither.
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return raise(read) && raise(write);
  }

  static bool raise(UniqueFd& fd) {
    if (fd.get() > 2) return true;
    fd.reset(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
    return fd.valid();
  }
};

// All that the child needs, prepared before it exists: hardly anything is allowed between vfork and exec.
struct LaunchPlan {
  const char* folder;
  const char* program;
  char* const* arguments;
  char* const* environment;
  int input, output, errors;
  int trouble;  // where errno goes if the program cannot be started
  int group;    // write "0" here to join the control group; -1: there is none
  pid_t parent;
  std::array<std::pair<int, rlimit>, 4> limits;
};

[[noreturn]] void report_and_exit(const LaunchPlan& plan) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(plan.trouble, &error, sizeof error);
  _exit(127);
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const LaunchPlan& plan) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) report_and_exit(plan);
  if (getppid() != plan.parent) _exit(127);  // died before the line above took effect
  reset_signals();
  if (plan.group >= 0 && write(plan.group, "0", 1) != 1) report_and_exit(plan);
  if (dup2(plan.input, 0) < 0 || dup2(plan.output, 1) < 0 || dup2(plan.errors, 2) < 0) report_and_exit(plan);
  // Baton's descriptors all close on exec; this is for libraries that forgot.
  close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  if (chdir(plan.folder) != 0) report_and_exit(plan);
  for (const auto& [resource, limit] : plan.limits) {
    if (setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) report_and_exit(plan);
  }
  execve(plan.program, plan.arguments, plan.environment);
  report_and_exit(plan);
}

// Signals stay blocked from before vfork until the child has reset its handlers: one of Baton's handlers must
// not run in the child, which shares Baton's memory until exec.
[[gnu::noinline]] pid_t start(const LaunchPlan& plan) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // vfork, because fork is slow: it copies the page tables of a large process for each turn. vfork is
  // deprecated on some systems, but posix_spawn cannot set the parent-death signal.
  const pid_t pid = vfork();
  if (pid == 0) become(plan);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

std::string_view value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

// The path for execve; a relative one is relative to the folder the child runs in.
std::string find_program(const Command& command) {
  const std::string& name = command.words.front();
  if (name.find('/') != std::string::npos) return name;
  std::string_view path = value_of(command.environment, "PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const std::string candidate = std::string(path.substr(0, colon)) + "/" + name;
    if (candidate.front() == '/' && access(candidate.c_str(), X_OK) == 0) return candidate;
    path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
  }
  return "./" + name;
}

// Whether an argument looks like a script for an interpreter, and not like an option, a module or code.
bool names_script(std::string_view word) {
  constexpr std::array<std::string_view, 11> kExtensions{".py", ".js", ".mjs", ".cjs", ".ts", ".sh",
                                                         ".rb", ".pl", ".php", ".lua", ".jar"};
  if (word.starts_with('-') || word.find_first_of(" \t\n;:*$=") != std::string_view::npos) return false;
  return std::any_of(kExtensions.begin(), kExtensions.end(),
                     [&](std::string_view extension) { return word.ends_with(extension); });
}

// The child's limit: the card's, but at most Baton's own hard limit.
rlimit limited(int resource, std::uint64_t most) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  if (most > 0) limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(most, limit.rlim_max);
  return limit;
}

std::array<std::pair<int, rlimit>, 4> limits_of(const ProcessLimits& limits) {
  rlimit files = limited(RLIMIT_NOFILE, limits.open_files);
  // Baton raises its own limit. A program that closes every possible descriptor, or calls select(), must not
  // inherit it.
  if (limits.open_files == 0) files.rlim_cur = std::min<rlim_t>(ProcessLimits::kOpenFiles, files.rlim_max);
  return {{{RLIMIT_AS, limited(RLIMIT_AS, limits.memory)},
           {RLIMIT_CPU, limited(RLIMIT_CPU, limits.cpu_s)},
           {RLIMIT_NPROC, limited(RLIMIT_NPROC, limits.processes)},
           {RLIMIT_NOFILE, files}}};
}

// Whether the system may have the resource again in a moment.
bool passes(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM;
}

// Returns why exec failed. For the system, a program whose interpreter is missing is missing itself.
std::string reason_of_exec(const Command& command, int error) {
  std::error_code none;
  const std::filesystem::path folder = command.folder;
  if (error != ENOENT || !std::filesystem::is_directory(folder, none)) return strerrordesc_np(error);
  if (std::filesystem::exists(folder / find_program(command), none))
    return "the interpreter that its first line names was not found";
  const bool is_path = command.words.front().find('/') != std::string::npos;
  return is_path ? strerrordesc_np(error) : "it was not found in PATH or in the agent's folder";
}

tl::unexpected<base::Error> cannot_start(const Command& command, int error, const std::string& reason) {
  const std::string& program = command.words.front();
  const std::string name = program.substr(program.rfind('/') + 1);
  const auto code = passes(error) ? base::ErrorCode::overloaded : base::ErrorCode::unavailable;
  return base::fail(code, "cannot start " + name + ": " + reason,
                    "cannot start " + program + " in " + command.folder + ": " + reason);
}

tl::unexpected<base::Error> cannot_start(const Command& command, int error) {
  return cannot_start(command, error, strerrordesc_np(error));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void make_non_blocking(const UniqueFd& fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

void reap(pid_t pid) {
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

base::Result<Child> spawn(const Command& command) {
  Pipe input, output, errors, trouble;
  if (!input.open() || !output.open() || !errors.open() || !trouble.open())
    return cannot_start(command, errno);
  UniqueFd group;
  if (!command.group.empty()) {
    group.reset(open((command.group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!group.valid()) return cannot_start(command, errno);
  }
  const std::string program = find_program(command);
  const std::vector<char*> arguments = pointers_to(command.words);
  const std::vector<char*> environment = pointers_to(command.environment);
  const LaunchPlan plan{
      command.folder.c_str(),   program.c_str(),    arguments.data(),    environment.data(), input.read.get(),
      output.write.get(),       errors.write.get(), trouble.write.get(), group.get(),        getpid(),
      limits_of(command.limits)};
  const pid_t pid = start(plan);
  if (pid < 0) return cannot_start(command, errno);

  trouble.write.reset();
  int error = 0;
  ssize_t got;
  do got = read(trouble.read.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    reap(pid);
    return cannot_start(command, error, reason_of_exec(command, error));
  }
  Child child;
  child.pid = pid;
  // Not pidfd_open(): glibc 2.36 declares it without C linkage.
  child.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd.valid()) {
    const int why = errno;
    reap(pid);
    return cannot_start(command, why);
  }
  child.input = std::move(input.write);
  child.output = std::move(output.read);
  child.errors = std::move(errors.read);
  for (const UniqueFd* fd : {&child.input, &child.output, &child.errors}) make_non_blocking(*fd);
  return child;
}

std::vector<std::string> missing_files(const Command& command) {
  std::vector<std::string> missing;
  const auto in_folder = [&](const std::string& name) {
    return name.starts_with('/') ? name : command.folder + "/" + name;
  };
  const std::string& name = command.words.front();
  const std::string program = in_folder(find_program(command));
  if (access(program.c_str(), F_OK) != 0) {
    const bool looked_up = name.find('/') == std::string::npos;
    missing.push_back("the program \"" + name + "\" was not found" +
                      (looked_up ? " in PATH or in the agent's folder" : ""));
  } else if (access(program.c_str(), X_OK) != 0) {
    missing.push_back("the program \"" + name + "\" is not executable: make it so (chmod +x)");
  }
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i];
    if (names_script(word) && access(in_folder(word).c_str(), R_OK) != 0)
      missing.push_back("the file \"" + word + "\" is missing or cannot be read");
  }
  return missing;
}

}  // namespace baton::agents
