// The log: spdlog on standard error, one line for each entry.
#pragma once

#include <spdlog/formatter.h>

#include <memory>
#include <string>

namespace baton::app {

struct LogOptions {
  std::string level = "info";   // a level of spdlog
  std::string format = "json";  // or "text"; or "terminal", for whoever writes agents
  bool agents = false;          // what they write to standard error is logged at any level
  bool access = false;          // a line for each request
};

// Whether this open file is a terminal whose user wants colours (NO_COLOR, TERM).
bool shows_colours(int file);

void set_up_logging(const LogOptions& options);

// Writes a line with its members (base/log.h): as one JSON object, as text with the members before the
// message, or for a terminal: time, agent and task in columns, in colour if that is wanted.
std::unique_ptr<spdlog::formatter> log_formatter(const LogOptions& options, bool in_colour = false);

}  // namespace baton::app
