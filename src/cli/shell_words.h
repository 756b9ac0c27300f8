// Generates shell completion and the manual page from the command table that --help uses.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace baton::cli {

// Returns a script for bash, zsh or fish that completes commands and their options.
std::string completion_for(const CLI::App& program, const std::string& shell);

// Returns a page in roff, for `man`.
std::string manual_of(const CLI::App& program, const std::string& version);

}  // namespace baton::cli
