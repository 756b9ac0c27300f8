// The log: spdlog on standard error, one line for each entry.
//
// Messages begin with the facts they are about, as `task=... agent=... context=...`; in the JSON format these
// become members of their own.
#pragma once

#include <string>

namespace baton::cli {

// `level` is a level of spdlog's; `format` is "json" or "text".
void set_up_logging(const std::string& level, const std::string& format);

// The facts at the beginning of a message and the rest of it, as one JSON object with the given time and
// level. Pure; the JSON format is made of it.
std::string json_log_line(const std::string& time, const std::string& level, const std::string& message);

}  // namespace baton::cli
