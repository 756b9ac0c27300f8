// The table of paths: the rows of every binding, and those that the pipeline answers itself.
#include <array>
#include <vector>

#include "server/a2a/rest.h"
#include "server/chat/conversation_paths.h"
#include "server/chat/routes.h"
#include "server/console/console.h"
#include "server/openai/openai.h"
#include "server/operate/routes.h"
#include "server/shared/path_table.h"
#include "server/sign_in/sign_in.h"

namespace baton::server {
namespace {

constexpr std::array kOwnPaths{
    // A2A over JSON-RPC, every version. The first row: most requests are for it.
    PathRow{Place::agent, "POST", "[/]", Stage::json_rpc},
    PathRow{Place::agent, "GET", "/.well-known/agent-card.json", Stage::card},
    PathRow{Place::agent, "GET", "/.well-known/agent.json", Stage::card},                    // until A2A 0.2
    PathRow{Place::agent, "GET", "/agent/authenticatedExtendedCard", Stage::extended_card},  // of A2A 0.2
    PathRow{Place::agent, "GET", "/plan.svg", Stage::plan},
    PathRow{Place::agent, "POST, GET", "/mcp[/]", Stage::mcp, Head::refused},
    PathRow{Place::agent, "GET", "/mcp/server-card", Stage::server_card},

    // The other methods of this path are the default agent's.
    PathRow{Place::root, "GET", "/", Stage::start_page, Head::served_and_allowed},
    PathRow{Place::root, "GET", "/healthz", Stage::is_alive},
    PathRow{Place::root, "GET", "/health", Stage::is_healthy},
    PathRow{Place::root, "GET", "/readyz", Stage::is_ready},
    PathRow{Place::root, "GET", "/metrics", Stage::metrics},
    PathRow{Place::root, "GET", "/agents[/]", Stage::agents},  // those that the caller may call
    PathRow{Place::root, "POST", "/tokens", Stage::tokens},    // a token for a page
    PathRow{Place::root, "POST, GET", "/mcp[/]", Stage::mcp, Head::refused},  // all agents, as tools
    PathRow{Place::root, "GET", "/mcp/server-card", Stage::server_card},
    PathRow{Place::root, "GET", "/.well-known/oauth-protected-resource[/]", Stage::resource},
    PathRow{Place::root, "GET", "/.well-known/oauth-protected-resource/{path...}", Stage::resource},
    PathRow{Place::root, "GET", "/.well-known/jwks.json", Stage::card_keys},
    PathRow{Place::root, "GET", "/.well-known/ard.json", Stage::catalog},
    PathRow{Place::root, "GET", "/.well-known/ai-catalog.json", Stage::catalog},  // until ARD 0.9

    PathRow{Place::operators, "", "/operate[/]", Stage::operator_api},
    PathRow{Place::operators, "", "/operate/{path...}", Stage::operator_api},
};

using Rows = std::vector<PathRow>;
constexpr std::size_t kPlaces = 5;

std::array<Rows, kPlaces> by_place() {
  std::array<Rows, kPlaces> all;
  for (const std::span<const PathRow> rows :
       {std::span<const PathRow>(kOwnPaths), chat::paths(), chat::conversation_paths(), openai::paths(),
        a2a::rest_paths(), console::paths(), sign_in::paths(), operate::paths()}) {
    for (const PathRow& row : rows) all[static_cast<std::size_t>(row.place)].push_back(row);
  }
  return all;
}

}  // namespace

std::span<const PathRow> paths_at(Place place) {
  static const std::array<Rows, kPlaces> all = by_place();
  return all[static_cast<std::size_t>(place)];
}

}  // namespace baton::server
