// Options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/commands.h"

namespace baton::cli {

inline constexpr const char* kExitCodes =
    "Exit codes: 0 completed, 1 failed or rejected, 2 wrong command line, 3 waits for input,\n"
    "4 no answer or an error of the protocol, 5 cancelled, 6 a file could not be saved,\n"
    "7 still running, 130 interrupted.\n";

// What is wrong with a URL on the command line, with the right URL if it can be guessed; empty: nothing.
std::string url_problem(const std::string& url);

// Adds --url, for which BATON_URL may stand. `what`: what it is the address of.
void add_url(CLI::App& command, std::string& url, const std::string& what);
// Adds those that say which agent is meant, and the exit codes.
void add_client(CLI::App& command, ClientOptions& client);
void add_save(CLI::App& command, SaveOptions& save);

}  // namespace baton::cli
