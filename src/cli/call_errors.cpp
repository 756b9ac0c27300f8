#include "cli/call_errors.h"

#include "base/text.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

std::string hint_for(const client::CallError& error) {
  if (error.rpc_code == protocol::a2a::kTaskNotFound) return "; `baton list` shows yours, with their agents";
  if (error.no_card) return "; for an agent without a card --a2a says how to speak to it";
  if (!error.other_agents) return {};
  const auto& [asked_for, served] = *error.other_agents;
  if (asked_for.empty()) return "; --agent names one of " + base::comma_separated(served);
  const std::string near = base::nearest_name(asked_for, served);
  return near.empty() ? "; the server has " + base::comma_separated(served) : "; did you mean " + near + "?";
}

}  // namespace

std::string describe(const client::CallError& error, const std::string& url) {
  const std::string text = printable_line(error.text + hint_for(error));
  if (error.rpc_code != 0) return text + " (error " + std::to_string(error.rpc_code) + ")";
  return printable_line(url) + ": " + text;
}

std::string token_note(const client::Remote& remote) {
  if (remote.untrusted_origin.empty()) return {};
  return "the agent's card names " + remote.untrusted_origin +
         ", which was not named on the command line: it does not get the token; --trust-card sends it, "
         "--endpoint speaks to another address";
}

}  // namespace baton::cli
