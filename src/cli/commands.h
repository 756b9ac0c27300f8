// The client commands. Each prints its results and returns an exit code (exit_code.h).
//
// They write text for people, or with `json` JSON lines to standard output (one for each event or task, as
// the server sent it) and everything else to standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/outgoing.h"
#include "client/remote.h"

namespace baton::cli {

struct ClientOptions : client::Target {
  bool json = false;
};

// Where the files of artifacts are saved.
struct SaveOptions {
  std::string folder;  // empty: they are not saved
  bool force = false;
};

struct SendOptions {
  ClientOptions client;
  OutgoingParts parts;
  std::string task;        // empty: a new one
  std::string context;     // empty: a new one, or the task's
  bool no_stream = false;  // wait for the end instead
  std::string push_url;    // a webhook for the task; empty: none
  std::string push_token;  // sent with the webhook
  std::string push_key;    // signs the webhook; empty: it is not signed
  SaveOptions save;
  std::optional<int> give_up_after_s;  // unset: 60, or immediately if the server was never reached
};
int send_command(SendOptions options);

struct WatchOptions {
  ClientOptions client;
  std::string task;
  std::optional<std::int64_t> from;  // the number of the last event already seen
  SaveOptions save;
  std::optional<int> give_up_after_s;
};
int watch_command(WatchOptions options);

struct TaskOptions {
  ClientOptions client;
  std::string task;
  std::optional<int> history;
};
int get_command(TaskOptions options);
int cancel_command(TaskOptions options);

struct ViewOptions {
  ClientOptions client;
  std::string task;
  bool follow = false;  // until the task ends
};
// Print the tree of tasks below a task, and its log with one line for each event. Only a Baton has these
// views.
int tree_command(ViewOptions options);
int logs_command(ViewOptions options);

struct ListOptions {
  ClientOptions client;
  std::string context;  // empty: any
  std::string state;    // for example "input-required"; empty: any
  std::string since;    // the earliest time of the status, RFC 3339
  int limit = 50;
  bool all = false;  // without a limit
  std::optional<int> history;
};
int list_command(const ListOptions& options);

struct CardOptions {
  ClientOptions client;
  std::string target;                 // a URL or an agent's name; empty: the agent that `client` selects
  std::string verify = "if-present";  // app::CardSecurity::verify
  std::string key;                    // file of the card's keys; empty: none is known
};
int card_command(const CardOptions& options);

// Prints the server's answer to /readyz. Returns 0 if the server at `url` accepts requests, 4 if it does not.
int health_command(const std::string& url);

// Reads the catalog of agents that the server at `url` publishes, and the cards that it leads to, and prints
// their problems. Returns 0 if there are no errors, 1 if there are, and 4 if there is no catalog.
int discover_command(const std::string& url);

// Prints the server's agents that the caller may use.
int agents_command(const ClientOptions& options);

// Expands `task` (an id, its beginning, or the short form that `list` shows) to the whole id by a lookup at
// the server, and sets the client's agent to the task's. Both are unchanged if the task is not found or the
// server is not a Baton. If several tasks match, prints an error and returns false.
bool complete_task_id(ClientOptions& client, std::string& task);

// Returns one printable line: the protocol's error with its code, or the failure and its URL; and the option
// that may help.
std::string describe(const client::CallError& error, const std::string& url);

// Returns why the token is not sent to the agent; empty if it is.
std::string token_note(const client::Remote& remote);

// Returns the command line that runs `words` with the same server and agent.
std::string command_line(const ClientOptions& client, const std::vector<std::string>& words);

}  // namespace baton::cli
