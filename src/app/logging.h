// The log: spdlog on standard error, one line for each entry.
//
// Messages begin with the facts they are about, as `task=... agent=... context=...`; in the JSON format these
// become members of their own.
#pragma once

#include <string>

namespace baton::app {

struct LogOptions {
  std::string level = "info";   // a level of spdlog
  std::string format = "json";  // or "text"
};

void set_up_logging(const LogOptions& options);

// One line of the JSON format: the facts at the beginning of a message and the rest of it, as one object with
// the given time and level. Pure.
std::string json_log_line(const std::string& time, const std::string& level, const std::string& message);

}  // namespace baton::app
