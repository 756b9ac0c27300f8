// `get`, `cancel` and `card`: one question, one answer.
#include <algorithm>

#include "cli/card_check.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/endpoint.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "wire/a2a/client_v0_1.h"
#include "wire/json/document.h"

namespace baton::cli {
namespace {

constexpr std::chrono::seconds kTimeout{30};
constexpr std::string_view kCardPath = "/.well-known/agent.json";

std::string describe(const CallError& error, const std::string& url) {
  std::string text = printable_line(error.text);
  if (error.rpc_code != 0) return text + " (error " + std::to_string(error.rpc_code) + ")";
  return printable_line(url) + ": " + text;
}

// Asks for a task and shows it; its state, or the exit code of what went wrong.
tl::expected<task::State, int> ask_for_task(const TaskOptions& options, std::string_view method,
                                            Console& console) {
  const Endpoint endpoint(endpoint_url(options.client.url, options.client.agent), options.client.token);
  const auto body =
      wire::v0_1_client::write_task_request(method, 1, task::TaskId{options.task}, options.history);
  const auto result = endpoint.call(body, kTimeout);
  if (!result) {
    console.error(describe(result.error(), endpoint.url()));
    const bool ended = result.error().rpc_code == wire::v0_1_client::kTaskNotCancelable;
    return tl::unexpected<int>(ended ? kExitFailed : kExitNoAnswer);
  }
  const auto document = wire::Document::parse_view(result->text);
  const auto task = document ? wire::v0_1_client::read_task(document->root()) : base::fail(document.error());
  if (!task) {
    console.error("the server's answer makes no sense: " + printable_line(task.error().for_caller));
    return tl::unexpected<int>(kExitNoAnswer);
  }
  console.event(result->text, *task);
  console.end();
  return task->status.state;
}

bool is_url(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

}  // namespace

int get_command(const TaskOptions& options) {
  Console console(options.client.json);
  const auto state = ask_for_task(options, "tasks/get", console);
  return state ? kExitDone : state.error();
}

int cancel_command(const TaskOptions& options) {
  Console console(options.client.json);
  const auto state = ask_for_task(options, "tasks/cancel", console);
  if (!state) return state.error();
  if (*state == task::State::canceled) return kExitDone;
  return task::is_terminal(*state) ? kExitFailed : kExitRunning;
}

int card_command(const CardOptions& options) {
  Console console(options.client.json);
  ClientOptions client = options.client;
  if (is_url(options.target)) {
    client.url = options.target;
    client.agent.clear();
  } else if (!options.target.empty()) {
    client.agent = options.target;
  }
  const Endpoint endpoint(endpoint_url(client.url, client.agent), client.token);
  const auto text = endpoint.get(kCardPath);
  if (!text) {
    console.error(describe(text.error(), endpoint.url()));
    return kExitNoAnswer;
  }
  const auto card = wire::Document::parse_view(*text);
  if (!card) {
    console.error("the card is not JSON: " + printable_line(card.error().for_caller));
    return kExitFailed;
  }
  if (console.for_people()) {
    console.text(show_card(card->root()));
  } else {
    console.json(card->root().raw());
  }
  const auto problems = check_card(card->root());
  for (const std::string& problem : problems) console.error(printable_line(problem));
  return problems.empty() ? kExitDone : kExitFailed;
}

std::string command_line(const ClientOptions& client, const std::vector<std::string>& words) {
  std::string line = "baton";
  for (const std::string& word : words) line += " " + shell_word(word);
  if (client.url != ClientOptions().url) line += " --url " + shell_word(client.url);
  if (!client.agent.empty()) line += " --agent " + shell_word(client.agent);
  return line;
}

}  // namespace baton::cli
