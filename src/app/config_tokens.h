// The `tokens` of the configuration: callers and their secrets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "json/document.h"

namespace baton::app {

// Receives the JSON pointer inside the list ("/0/caller") and the error there. Neither contains a secret.
using ReportToken = std::function<void(std::string_view pointer, std::string_view what)>;

// The places of secrets that the list refers to by name.
struct TokenSources {
  const std::map<std::string, std::string>& environment;
  std::string folder;  // for relative file names; empty: the current folder
};

// Reads the list: objects with `caller`, one of `token`, `token_file` and `token_env`, and optionally
// `agents`, `children`, `role` and `scopes`.
std::vector<ConfiguredToken> read_tokens(json::Value list, const TokenSources& sources,
                                         const ReportToken& report);

}  // namespace baton::app
