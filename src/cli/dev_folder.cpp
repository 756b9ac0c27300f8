#include "cli/dev_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/unpacked.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;

bool has_an_agent(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
  return !error && std::any_of(begin(entries), end(entries), [&](const fs::directory_entry& entry) {
    return fs::exists(entry.path() / "card.json", error);
  });
}

}  // namespace

std::string own_agents_folder() {
  return !has_an_agent("agent-cards") && has_an_agent("agents") ? "agents" : "agent-cards";
}

DevFolder find_dev_folder() {
  if (has_an_agent("agent-cards")) return {};
  const auto& unpacked = base::unpacked();
  const std::string shipped = unpacked ? (unpacked->folder / "agent-cards").string() : std::string();
  if (has_an_agent("agents")) {
    std::string about = "Serving the agents in agents/.";
    if (!shipped.empty()) about += " To serve those that come with Baton: baton dev " + shipped;
    return {"agents", about};
  }
  if (shipped.empty()) return {{}, unpacked.error().for_caller};
  std::string about = "Serving the agents that come with Baton, in " + shipped +
                      "\nTo make one of your own: baton init agents/mine, and start baton dev again";
  if (!unpacked->note.empty()) about += "\n(" + unpacked->note + ")";
  return {shipped, about};
}

}  // namespace baton::cli
