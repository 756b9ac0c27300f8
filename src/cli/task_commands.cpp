// `get`, `cancel`, `agents` and `card`: commands of one request and one answer.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "app/signing_keys.h"
#include "base/text.h"
#include "cli/card_check.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/ops_table.h"
#include "cli/printable.h"
#include "client/endpoint.h"
#include "client/remote.h"
#include "json/document.h"
#include "protocol/card/signatures.h"

namespace baton::cli {
namespace {

constexpr std::chrono::seconds kCallTimeout{30};

enum class Shown { task, state };

// Requests a task and shows it, or to people only its state. Returns the state, or the exit code of an error.
// `write` builds the request in the given dialect.
template <class F>
tl::expected<task::State, int> ask_for_task(const TaskOptions& options, F&& write, Console& console,
                                            Shown shown = Shown::task) {
  const std::string url = client::endpoint_url(options.client.card_url(), options.client.agent);
  std::optional<SlowNotice> notice("waiting for " + url);
  const auto remotes = client::find_remotes(options.client, client::Purpose::tasks);
  notice.reset();
  if (!remotes) {
    console.error(describe(remotes.error(), url));
    return tl::unexpected<int>(kExitNoAnswer);
  }
  const std::string note = token_note(remotes->front());
  if (!note.empty()) console.error(note);
  const client::Remote* remote = nullptr;
  tl::expected<task::Json, client::CallError> result;
  for (const client::Remote& one : *remotes) {
    remote = &one;
    result = client::RemoteEndpoint(one).call(write(*one.dialect), kCallTimeout);
    if (result || !client::may_be_of_other_version(result.error())) break;
  }
  if (!result) {
    console.error(describe(result.error(), remote->url));
    return tl::unexpected<int>(kExitNoAnswer);
  }
  const auto document = json::Document::parse_view(result->text);
  const auto task = document ? remote->dialect->read_task(document->root()) : base::fail(document.error());
  if (!task) {
    console.error("the server's answer is invalid: " + printable_line(task.error().for_caller));
    return tl::unexpected<int>(kExitNoAnswer);
  }
  if (shown == Shown::state) {
    console.event(result->text,
                  protocol::a2a::StatusUpdate{task->id, task->context, task->status, false, {}});
  } else {
    console.event(result->text, *task);
  }
  console.end();
  return task->status.state;
}

bool is_url(std::string_view text) {
  return base::web_scheme(text) != 0;
}

std::string hint_for(const client::CallError& error, const std::string& url) {
  if (error.rpc_code == protocol::a2a::kTaskNotFound)
    return "; `baton list` shows your tasks, and --agent names the agent of a task";
  const bool nobody_there = error.lost && error.unsent && !error.held && error.status == 0;
  if (nobody_there && url.starts_with(ClientOptions().url))
    return "; `baton dev` starts a server, and --url names another one";
  if (error.no_card) return "; for an agent without a card, name its version with --a2a";
  if (!error.other_agents) return {};
  const auto& [asked_for, served] = *error.other_agents;
  if (asked_for.empty()) return "; --agent names one of " + base::comma_separated(served);
  const std::string near = base::nearest_name(asked_for, served);
  return near.empty() ? "; the server has " + base::comma_separated(served) : "; did you mean " + near + "?";
}

using Trust = std::shared_ptr<const protocol::CardTrust>;

// The key is the card's, wherever that is.
base::Result<Trust> trust_of(const CardOptions& options, const std::string& url) {
  app::CardSecurity cards;
  cards.verify = options.verify;
  if (!options.key.empty()) cards.trusted_keys = {url.substr(0, url.find_first_of("?=")) + "=" + options.key};
  auto trust = app::read_card_trust(cards);
  constexpr std::string_view kSetting = "cards.trusted_keys";
  if (!trust && trust.error().for_caller.starts_with(kSetting))
    trust.error().for_caller.replace(0, kSetting.size(), "--key");
  return trust;
}

std::string signature_line(json::Value card, const Trust& trust) {
  using Outcome = protocol::CardCheck::Outcome;
  const auto found = trust->keys.empty() ? protocol::check_signatures(card, {})
                                         : protocol::check_signatures(card, trust->keys.begin()->second);
  const std::string by = found.kid.empty() ? "" : ", by " + printable_line(found.kid);
  std::string text = "signature      ";
  switch (found.outcome) {
    case Outcome::absent:
      text += "none";
      break;
    case Outcome::unknown_key:
      text += "of an unknown key" + by + "; --key names a file with the right one";
      break;
    case Outcome::wrong:
      text += "wrong" + by;
      break;
    case Outcome::good:
      text += "good" + by + ", " + std::string(found.form);
      break;
  }
  return text + "\n";
}

}  // namespace

int get_command(TaskOptions options) {
  if (!complete_task_id(options.client, options.task)) return kExitUsage;
  Console console(options.client.json);
  const auto write = [&](const protocol::a2a::ClientDialect& dialect) {
    return dialect.write_get({{options.task}, options.history.value_or(0), true, {}, {}});
  };
  const auto state = ask_for_task(options, write, console);
  return state ? kExitDone : state.error();
}

int cancel_command(TaskOptions options) {
  if (!complete_task_id(options.client, options.task)) return kExitUsage;
  Console console(options.client.json);
  const auto write = [&](const protocol::a2a::ClientDialect& dialect) {
    return dialect.write_cancel({options.task});
  };
  const auto state = ask_for_task(options, write, console, Shown::state);
  if (!state) return state.error();
  if (*state == task::State::canceled) return kExitDone;
  return task::is_terminal(*state) ? kExitNoAnswer : kExitRunning;
}

int health_command(const std::string& url) {
  std::string ready = url;
  while (ready.ends_with('/')) ready.pop_back();
  const auto answer = client::http_get(ready + "/readyz", {}, "");
  if (!answer) {
    std::fprintf(stderr, "baton: %s: %s\n", printable_line(ready).c_str(),
                 printable_line(answer.error().text).c_str());
    return kExitNoAnswer;
  }
  std::fputs(printable(answer->text).c_str(), stdout);
  return kExitDone;
}

int agents_command(const ClientOptions& options) {
  Console console(options.json);
  const auto list = client::agent_list(options);
  if (!list) {
    console.error(describe(list.error(), options.card_url()));
    return kExitNoAnswer;
  }
  OpsTable table(console, {{"AGENT", [](json::Value row) { return text_in(row, "name"); }},
                           {"TITLE", [](json::Value row) { return text_in(row, "title"); }},
                           {"WHAT IT DOES", [](json::Value row) { return text_in(row, "description"); }}});
  const auto document = json::Document::view_of(*list);
  for (const json::Value agent : document.root()["agents"]) table.add(agent);
  table.flush();
  return kExitDone;
}

int card_command(const CardOptions& options) {
  Console console(options.client.json);
  ClientOptions target = options.client;
  if (is_url(options.target)) {
    target.url = options.target;
    target.agent.clear();
    target.endpoint.clear();
  } else if (!options.target.empty()) {
    target.agent = options.target;
  }
  const std::string url = client::endpoint_url(target.card_url(), target.agent);
  const auto trust = trust_of(options, url);
  if (!trust) {
    console.error(printable_line(trust.error().for_caller));
    return kExitUsage;
  }
  std::optional<SlowNotice> notice("waiting for " + url);
  const auto text = client::fetch_card(target);
  notice.reset();
  if (!text) {
    console.error(describe(text.error(), url));
    return kExitNoAnswer;
  }
  const std::string_view sent = base::without_mark(*text);
  const auto card = json::Document::parse_view(sent);
  if (!card) {
    console.error("the card is not JSON: " + printable_line(card.error().for_caller));
    return kExitFailed;
  }
  // Shows what a good signature covers, and no more.
  const std::string origin = (*trust)->keys.empty() ? std::string() : (*trust)->keys.begin()->first;
  const auto accepted = protocol::accepted_card(**trust, origin, sent);
  const auto covered = json::Document::view_of(accepted ? std::string_view(*accepted) : sent);
  if (console.for_people()) {
    console.text(show_card(covered.root()));
    console.text(signature_line(card->root(), *trust));
  } else {
    console.json(covered.root().raw());
  }
  auto problems = check_card(card->root());
  if (!accepted) problems.push_back(accepted.error().for_caller);
  for (const std::string& problem : problems) console.error(printable_line(problem));
  return problems.empty() ? kExitDone : kExitFailed;
}

std::string command_line(const ClientOptions& client, const std::vector<std::string>& words) {
  std::string line = "baton";
  for (const std::string& word : words) line += " " + shell_word(word);
  if (client.url != ClientOptions().url) line += " --url " + shell_word(client.url);
  if (!client.agent.empty()) line += " --agent " + shell_word(client.agent);
  if (!client.a2a.empty()) line += " --a2a " + shell_word(client.a2a);
  if (!client.transport.empty()) line += " --transport " + shell_word(client.transport);
  if (!client.endpoint.empty()) line += " --endpoint " + shell_word(client.endpoint);
  if (client.grpc_text_files) line += " --grpc-text-files";
  if (client.trust_card) line += " --trust-card";
  return line;
}

std::string describe(const client::CallError& error, const std::string& url) {
  const std::string text = printable_line(error.text + hint_for(error, url));
  if (error.rpc_code != 0) return text + " (error " + std::to_string(error.rpc_code) + ")";
  return printable_line(url) + ": " + text;
}

std::string token_note(const client::Remote& remote) {
  if (remote.untrusted_origin.empty()) return {};
  return "the agent's card names the address " + remote.untrusted_origin +
         ", which differs from the command line's, so it does not get the token; --trust-card sends it "
         "anyway, --endpoint uses another address";
}

}  // namespace baton::cli
