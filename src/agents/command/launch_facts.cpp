#include "agents/command/launch_facts.h"

#include <unistd.h>

#include <string_view>

namespace baton::agents {

Command command_of(const AgentSettings& settings, const std::filesystem::path& folder) {
  Command command{settings.command, {}, folder.string()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("BATON_") || settings.env.contains(std::string(text.substr(0, text.find('=')))))
      continue;
    command.environment.emplace_back(text);
  }
  for (const auto& [name, value] : settings.env) command.environment.push_back(name + "=" + value);
  return command;
}

std::string shown(const LaunchFacts& facts, const ProcessExit& exit) {
  std::string text = exit.text();
  const std::string folder = facts.command.folder + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    text.erase(at, folder.size());
  }
  return text;
}

}  // namespace baton::agents
