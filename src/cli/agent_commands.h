// The commands for who writes agents. Each prints its results and returns an exit code (exit_code.h).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "protocol/a2a/client/updates.h"

namespace baton::cli {

struct InitOptions {
  std::string folder;  // new; its name is the agent's
  std::string language = "python", kind = "echo";
};
// Makes an agent's folder: a card, a program where the kind has one, and conversations for `test_command`.
int init_command(const InitOptions& options);
std::vector<std::string> init_languages();
std::vector<std::string> init_kinds();

struct CheckOptions {
  std::string folder = "agent-cards";  // of agents, or an agent's own
  std::string turn;                    // the message of a turn to run; empty: none
  bool allow_missing = false;          // agents that the cards name and that are not in the folder
  bool json = false;
};
// 0: all cards are right, and the turn, if one was run, has completed. 1: a card is wrong, or the turn has
// failed.
int check_command(const CheckOptions& options);

struct ChatOptions {
  ClientOptions client;
  std::string context;  // that it goes on with; empty: a new one
  SaveOptions save;
  bool server_ends = false;  // with the conversation: nobody can go on with its tasks
  std::function<void(const protocol::a2a::Update&)> on_update;  // is told what comes; may be empty
};
// Says what standard input says, a message a line. The exit code is that of the last message.
int chat_command(const ChatOptions& options);

struct TestOptions {
  std::string folder;  // an agent's own
  std::string file;    // with conversations; empty: conversations.json in the folder
  std::string junit;   // a file for the outcome; empty: none
};
// 0: all conversations went as expected; 1: one did not.
int test_command(const TestOptions& options);

struct RunOptions {
  std::vector<std::string> command;  // a program's file, or a command with its arguments
  std::string io;                    // "text" or "lines", as in a card; empty: as the first turn shows
  std::string save;                  // a new folder for an agent with a card; empty: none
  bool json = false;
};
// Serves the program as an agent for a conversation (`chat_command`), with its tasks in memory.
int run_command(const RunOptions& options);

struct ReplayOptions {
  std::string database = "baton.db";
  std::string agents = "agent-cards";  // whose agent runs, as it is now
  std::string task;
  std::string agent;  // whose task it is; empty: there is one of that id
  int turn = 0;       // by its message, the first one is 1; 0: the last
  bool json = false;
};
// Runs a turn again that a server has run, with what it was given then. Nothing of it is kept. The exit code
// is the turn's.
int replay_command(const ReplayOptions& options);

// Adds these commands. `ran`: gets the exit code of the one that was run.
void add_agent_commands(CLI::App& app, std::function<void(int)> ran);

}  // namespace baton::cli
