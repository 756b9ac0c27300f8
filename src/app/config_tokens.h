// The `tokens` of the configuration: who may call, with which secret.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "json/document.h"

namespace baton::app {

// Gets the JSON pointer inside the list ("/0/caller") and what is wrong there. Never a secret.
using ReportToken = std::function<void(std::string_view pointer, std::string_view what)>;

// Where to read the secrets that the list only names.
struct TokenSources {
  const std::map<std::string, std::string>& environment;
  std::string folder;  // relative file names start here; empty: the current folder
};

// Reads the list: objects with `caller`, one of `token`, `token_file` and `token_env`, and perhaps `agents`,
// `children` and `role`.
std::vector<ConfiguredToken> read_tokens(json::Value list, const TokenSources& sources,
                                         const ReportToken& report);

}  // namespace baton::app
