// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace baton::cli {

inline constexpr const char* kExitCodes =
    "Exit codes: 0 completed, 1 failed or rejected, 2 wrong command line, 3 waits for input,\n"
    "4 no answer or an error of the protocol, 5 canceled, 6 a file could not be saved,\n"
    "7 still running, 130 interrupted.\n";

// Returns why a URL on the command line is invalid, with the right URL if it can be guessed; empty if it is
// valid.
std::string url_problem(const std::string& url);

// Adds a positional argument that takes all words that are no options, each as it is. (CLI11's own way splits
// a word in square brackets like a list.)
CLI::Option* add_words(CLI::App& command, const std::string& name, std::vector<std::string>& words,
                       const std::string& help);
// Adds --url, which defaults to BATON_URL. `what` names the thing at that address, for the help text.
CLI::Option* add_url(CLI::App& command, std::string& url, const std::string& what);
// Adds the options that select the agent, and the list of exit codes.
void add_client(CLI::App& command, ClientOptions& client);
void add_save(CLI::App& command, SaveOptions& save);

}  // namespace baton::cli
