// The log: spdlog on standard error, one line for each entry.
#pragma once

#include <spdlog/formatter.h>

#include <memory>
#include <string>

namespace baton::app {

struct LogOptions {
  std::string level = "info";   // a level of spdlog
  std::string format = "json";  // or "text"; or "terminal", for authors of agents
  bool agents = false;          // logs the standard error of agents at any level
  bool access = false;          // a line for each request
};

// Returns true if this file descriptor is a terminal that should show colours (NO_COLOR, TERM).
bool shows_colours(int file);

void set_up_logging(const LogOptions& options);

// Formats a line with its members (base/log.h): as one JSON object, as text with the members before the
// message, or for a terminal, with time, agent and task in columns and optional colours.
std::unique_ptr<spdlog::formatter> log_formatter(const LogOptions& options, bool in_colour = false);

}  // namespace baton::app
