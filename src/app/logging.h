// The log: spdlog on standard error, one line for each entry.
#pragma once

#include <spdlog/formatter.h>

#include <memory>
#include <string>

namespace baton::app {

struct LogOptions {
  std::string level = "info";   // a level of spdlog
  std::string format = "json";  // or "text"
  bool access = false;          // a line for each request
};

void set_up_logging(const LogOptions& options);

// Writes a line with its members (base/log.h): as one JSON object, or as text with the members before the
// message.
std::unique_ptr<spdlog::formatter> log_formatter(const LogOptions& options);

}  // namespace baton::app
