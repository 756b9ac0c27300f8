#include "cli/local_server.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/unique_fd.h"
#include "task/ids.h"

namespace baton::cli {
namespace {

constexpr std::string_view kListening = "listening on ";

// Returns this program's environment with the token in place of Baton's settings, which belong to another
// server. Only this user can read a process's environment. The token names the anonymous caller, because a
// replayed task belongs to that caller.
std::vector<std::string> environment(const std::string& token) {
  std::vector<std::string> kept{R"(BATON_TOKENS=[{"caller": ")" + task::kAnonymous.value +
                                R"(", "token": ")" + token + R"("}])"};
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("BATON_")) kept.emplace_back(*each);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Puts the child into its own process group, so that Ctrl-C reaches only this program.
[[noreturn]] void become_server(int out, pid_t parent, char* const* words, char* const* variables) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // the parent ended before prctl()
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_DFL);
  ::execve("/proc/self/exe", words, variables);
  ::_exit(EXIT_FAILURE);
}

// Waits for the URL that the server prints. Empty if the server ended first.
std::string read_url(int from) {
  std::string said;
  std::array<char, 4096> bytes;
  while (true) {
    const ssize_t got = ::read(from, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    said.append(bytes.data(), static_cast<std::size_t>(got));
    const std::size_t at = said.find(kListening);
    const std::size_t end = at == std::string::npos ? at : said.find('\n', at);
    if (end == std::string::npos) continue;
    const std::string_view line = std::string_view(said).substr(at, end - at).substr(kListening.size());
    return std::string(line.substr(0, line.find(' ')));
  }
}

}  // namespace

base::Result<std::unique_ptr<LocalServer>> LocalServer::start(const std::string& agents_folder,
                                                              const std::string& database) {
  // Without a grace, a running turn does not delay the end. A second signal would not do: signals that are
  // not taken in between are one.
  std::vector<std::string> words{"baton", "dev", agents_folder, "--host", "127.0.0.1", "--port", "0"};
  words.insert(words.end(), {"--log-level", "error", "--db", database, "--engine-schedules=false"});
  words.insert(words.end(), {"--log-agents", "--engine-drain-grace-s", "0"});
  const std::string token = base::random_hex(16);
  std::vector<std::string> variables = environment(token);
  const std::vector<char*> word_list = pointers(words), variable_list = pointers(variables);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return base::fail(base::ErrorCode::unavailable, "cannot start a server: no pipe");
  const base::UniqueFd in(pipe[0]);
  base::UniqueFd out(pipe[1]);
  const pid_t parent = ::getpid(), process = ::fork();
  if (process < 0) return base::fail(base::ErrorCode::unavailable, "cannot start a server: no process");
  if (process == 0) become_server(out.get(), parent, word_list.data(), variable_list.data());
  out.reset();
  const std::string url = read_url(in.get());
  std::unique_ptr<LocalServer> server(new LocalServer(process, url, token));
  if (url.empty()) return base::fail(base::ErrorCode::unavailable, "the agent cannot be served");
  return server;
}

void LocalServer::let_in(client::Target& client) const {
  client.url = url_;
  client.access.token = token_;
}

LocalServer::~LocalServer() {
  ::kill(process_, SIGTERM);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace baton::cli
