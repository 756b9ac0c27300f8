// Builds a Config from flags, environment, file and defaults, in order of decreasing precedence. Reports all
// problems at once.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "base/error.h"

namespace baton::app {

struct Sources {
  std::string file_name;  // empty: no file
  std::string file_text;  // JSON with comments
  std::map<std::string, std::string> environment;
  std::vector<std::pair<std::string, std::string>> flags;  // the setting's path and the given value
  // Replace defaults of the table: the setting's path and its default.
  std::vector<std::pair<std::string, std::string>> defaults = {};
};

struct LoadedConfig {
  Config config;                      // valid only if there are no problems
  std::vector<std::string> problems;  // "baton.json /port: must be ...", never with a secret in it
  std::vector<std::string> warnings;  // variables that look like misspelt settings
};

// Reads only the files that tokens and `db_file` name.
LoadedConfig load_config(const Sources& sources);

// Returns the environment variables of this process.
std::map<std::string, std::string> process_environment();

// Generates the JSON Schema of the configuration file from the table of settings: schema/config.schema.json.
std::string config_schema();

}  // namespace baton::app
