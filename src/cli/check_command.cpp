// `check`: finds mistakes in agents' cards without starting anything, and can run a turn on trial.
#include <algorithm>
#include <cstdio>

#include "app/check_cards.h"
#include "cli/agent_commands.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/local_server.h"
#include "cli/printable.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

void print(const app::CardFinding& found, bool for_people) {
  if (for_people) {
    std::string place = found.what.file;
    if (found.what.line > 0)
      place += ":" + std::to_string(found.what.line) + ":" + std::to_string(found.what.column);
    const std::string about = found.what.pointer.empty() ? "" : found.what.pointer + ": ";
    std::printf("%s: %s: %s\n", printable_line(place).c_str(), found.is_wrong ? "error" : "warning",
                printable_line(about + found.what.reason).c_str());
    return;
  }
  std::string line;
  json::Writer out(line);
  out.object([&] {
    out.member("agent", found.agent).member("level", found.is_wrong ? "error" : "warning");
    out.member("file", found.what.file);
    if (found.what.line > 0)
      out.member("line", static_cast<std::int64_t>(found.what.line))
          .member("column", static_cast<std::int64_t>(found.what.column));
    out.member("pointer", found.what.pointer).member("reason", found.what.reason);
  });
  std::printf("%s\n", line.c_str());
}

std::string counted(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

void print_sum(const app::CheckedCards& checked) {
  const auto wrong =
      static_cast<std::size_t>(std::ranges::count_if(checked.findings, &app::CardFinding::is_wrong));
  std::printf("%s: %s, %s\n", counted(checked.agents.size(), "agent").c_str(),
              counted(wrong, "error").c_str(), counted(checked.findings.size() - wrong, "warning").c_str());
}

int run_turn(const CheckOptions& options, const std::string& agent) {
  const auto server = LocalServer::start(app::agent_folder(options.folder).agents);
  if (!server) {
    std::fprintf(stderr, "baton: %s\n", server.error().for_caller.c_str());
    return kExitFailed;
  }
  SendOptions send;
  (*server)->let_in(send.client);
  send.client.agent = agent;
  send.client.json = options.json;
  send.parts.text = {options.turn};
  return send_command(send);
}

}  // namespace

int check_command(const CheckOptions& options) {
  const bool for_people = !options.json;
  const auto checked = app::check_cards(options.folder, options.allow_missing);
  if (!checked) {
    std::fprintf(stderr, "baton: %s\n", printable(checked.error().for_caller).c_str());
    return kExitUsage;
  }
  for (const app::CardFinding& found : checked->findings) print(found, for_people);
  if (for_people) print_sum(*checked);
  if (!checked->are_right()) return kExitFailed;
  if (options.turn.empty()) return kExitDone;
  if (checked->agents.size() != 1) {
    std::fprintf(stderr, "baton: --turn requires one agent: name its own folder\n");
    return kExitUsage;
  }
  std::fflush(stdout);
  return run_turn(options, checked->agents.front());
}

}  // namespace baton::cli
