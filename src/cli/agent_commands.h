// The commands for authors of agents. Each prints its results and returns an exit code (exit_code.h).
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
  std::string description;  // for the card; empty: asked for at a terminal, or else the kind's
};
// Creates an agent's folder: a card, a program if the kind has one, and conversations for `test_command`. A
// plan's agents get folders beside it.
int init_command(const InitOptions& options);
std::vector<std::string> init_languages();
std::vector<std::string> init_kinds();

struct CheckOptions {
  std::string folder;          // of agents, or of one agent
  std::string turn;            // the message of a turn to run; empty: none
  bool allow_missing = false;  // accept cards that name agents which are not in the folder
  bool json = false;
};
// Returns 0 if all cards are valid and the turn, if any, completed; 1 if a card is wrong or the turn failed.
int check_command(const CheckOptions& options);

struct ChatOptions {
  ClientOptions client;
  std::string context;  // the conversation to continue; empty: a new one
  SaveOptions save;
  bool server_ends = false;  // with the conversation, so no hints about continuing its tasks are printed
  std::function<void(const protocol::a2a::Update&)> on_update;  // called for each update; may be empty
};
// Sends each line of standard input as a message. Returns the exit code of the last message.
int chat_command(const ChatOptions& options);

struct TestOptions {
  std::string folder;  // of agents, or of one agent
  std::string file;    // of one agent, with conversations; empty: conversations.json in the folder
  std::string junit;   // the file for a JUnit report; empty: none
};
// Returns 0 if all conversations went as expected, 1 if one did not.
int test_command(const TestOptions& options);

struct RunOptions {
  std::vector<std::string> command;  // a program's file, or a command with its arguments
  std::string io;                    // "text" or "lines", as in a card; empty: guessed in the first turn
  std::string save;                  // a new folder for the program and a card; empty: none
  bool json = false;
};
// Serves the program as an agent for a conversation (`chat_command`), with its tasks in memory.
int run_command(const RunOptions& options);

struct ReplayOptions {
  std::string database = "baton.db";
  std::string agents;  // the folder of agents, with the code to run
  std::string task;
  std::string agent;  // the task's; may be empty if only one agent has a task with that id
  int turn = 0;       // counted by the caller's messages, from 1; 0: the last
  bool json = false;
};
// Runs a turn that a server has run once more, with the input that it had then, on a copy of the database
// that is deleted afterwards. Returns the turn's exit code.
int replay_command(const ReplayOptions& options);

// Adds these commands. `ran` gets the exit code of the command that was run.
void add_agent_commands(CLI::App& app, std::function<void(int)> ran);

}  // namespace baton::cli
