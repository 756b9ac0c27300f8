#include "agents/command/launch_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/secret_mask.h"
#include "base/unpacked.h"

namespace baton::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 5> kPassedOn{"PATH", "HOME", "LANG", "TZ", "TMPDIR"};
constexpr std::array<const char*, 6> kSecretWords{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"};

// The libraries of an installed program, as /usr/share/baton/lib is for /usr/bin/baton; empty if there are
// none. Only in a folder to which no other user can add: "share" could be theirs if the program is in
// /tmp/bin.
fs::path installed_libraries() {
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  struct stat facts {};
  const bool is_safe = ::stat(prefix.c_str(), &facts) == 0 &&
                       (facts.st_uid == 0 || facts.st_uid == ::geteuid()) && (facts.st_mode & 022) == 0;
  return is_safe ? prefix / "share/baton/lib" : fs::path();
}

// The libraries that the program carries; empty if they cannot be unpacked.
const fs::path& own_libraries() {
  static const fs::path folder = [] {
    const auto& unpacked = base::unpacked();
    if (!unpacked) {
      base::log_warn({}, "agents cannot import Baton's helper libraries: {}", unpacked.error().for_caller);
      return fs::path();
    }
    if (!unpacked->note.empty()) base::log_warn({}, "{}", unpacked->note);
    return unpacked->folder / "lib";
  }();
  return folder;
}

// The folder that makes `baton` a module of a language, "python" or "node"; empty if there is none.
std::string library_for(const char* language, const fs::path& agent_folder) {
  std::error_code ignored;
  for (const fs::path& libraries : {agent_folder.parent_path() / "lib", installed_libraries()}) {
    if (!libraries.empty() && fs::is_directory(libraries / language / "baton", ignored))
      return (libraries / language).string();
  }
  return own_libraries().empty() ? std::string() : (own_libraries() / language).string();
}

void append_path(std::string& paths, const std::string& folder) {
  if (!paths.empty()) paths += ':';
  paths += folder;
}

bool names_secret(std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return std::ranges::any_of(kSecretWords,
                             [&](const char* word) { return name.find(word) != std::string::npos; });
}

}  // namespace

Command command_of(const AgentSettings& settings, const fs::path& folder) {
  std::map<std::string, std::string> variables = settings.env;
  const auto pass_on = [&](const std::string& name) {
    if (const char* value = std::getenv(name.c_str())) variables.try_emplace(name, value);
  };
  for (const char* name : kPassedOn) pass_on(name);
  for (const std::string& name : settings.env_from) pass_on(name);
  for (const auto& [name, language] : {std::pair{"PYTHONPATH", "python"}, std::pair{"NODE_PATH", "node"}}) {
    const std::string library = library_for(language, folder);
    if (!library.empty()) append_path(variables[name], library);
  }
  // Makes Python's output visible when it is printed, not when a buffer is full.
  if (settings.io != AgentSettings::Io::lines) variables.try_emplace("PYTHONUNBUFFERED", "1");
  Command command{settings.command, {}, folder.string(), settings.limits};
  command.errors = std::make_shared<RecentLines>();
  for (const auto& [name, value] : variables) command.environment.push_back(name + "=" + value);
  return command;
}

Command command_for(const LaunchFacts& facts, const Turn& turn) {
  Command command = facts.command;
  const bool is_set = facts.settings.env.contains("TRACEPARENT");
  if (!turn.trace.empty() && !is_set) command.environment.push_back("TRACEPARENT=" + turn.trace);
  return command;
}

base::LogMembers log_members(const Turn& turn) {
  return {{"task", turn.task.value}, {"attempt", turn.attempt}};
}

base::LogMembers log_members(const task::AgentName& agent, const Turn& turn) {
  return {{"agent", agent.value}, {"task", turn.task.value}, {"attempt", turn.attempt}};
}

std::string failure(const LaunchFacts& facts, const std::string& what, const ProcessExit& exit,
                    const task::TaskId& task) {
  if (!facts.settings.verbose_errors) {
    return what + " (" + exit.text() + "); for details, see the log for task " + task.value;
  }
  const std::string last = exit.last_words.empty() ? "" : ": " + exit.last_words;
  std::string text = what + " (" + exit.text() + last + ")";
  const std::string folder = facts.command.folder + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    text.erase(at, folder.size());
  }
  return text;
}

std::string masked_errors(const AgentSettings& settings, const std::string& errors) {
  if (errors.empty()) return {};
  std::vector<std::string> secrets;
  for (const auto& [name, value] : settings.env) {
    if (names_secret(name)) secrets.push_back(value);
  }
  for (const std::string& name : settings.env_from) {
    const char* value = std::getenv(name.c_str());
    // A path, as in PYTHONPATH, is no secret, and tracebacks are full of them.
    if (value != nullptr && value[0] != '/') secrets.emplace_back(value);
  }
  return base::SecretMask(secrets).masked(errors);
}

}  // namespace baton::agents
