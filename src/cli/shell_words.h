// What shells and `man` are told of the program's commands, made of the same table as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace baton::cli {

// A script for bash, zsh or fish, which completes commands and their options.
std::string completion_for(const CLI::App& program, const std::string& shell);

// A page in roff, for `man`.
std::string manual_of(const CLI::App& program, const std::string& version);

}  // namespace baton::cli
