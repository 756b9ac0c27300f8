// The settings of `baton serve` as a table. The configuration file, the environment, the flags, the checks,
// the help text and the JSON Schema are all derived from it. A row names the member that holds the setting's
// value; the setting's type and default are that member's.
//
// Threads: any; all functions are pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/config.h"
#include "json/document.h"

namespace baton::app {

// Finds a setting's member in a Config. Its type decides the syntax: whole numbers, bytes ("8MiB"), numbers,
// seconds, yes or no, text, a list of texts (separated by commas outside of the file), one of the choices.
using SettingTarget =
    std::variant<int& (*)(Config&), double& (*)(Config&), std::size_t& (*)(Config&),
                 std::chrono::milliseconds& (*)(Config&), bool& (*)(Config&),
                 std::optional<bool>& (*)(Config&), std::string& (*)(Config&),
                 std::vector<std::string>& (*)(Config&), server::ChatOptions::SendMessage& (*)(Config&)>;

struct Setting {
  std::string_view path;  // "http.body_max": section and name in the file
  SettingTarget target;
  std::string_view help;
  double min = 0;  // of a number, or of the length of a text
  double max = 0;
  std::span<const std::string_view> choices = {};  // of a text, or of an enumeration in its order
  std::string_view flag = {};                      // empty: derived from the path
  bool counts = false;                             // a std::size_t that is a count, not a number of bytes
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view path);

std::string flag_of(const Setting& setting);       // its own, or that of its path
std::string flag_of(std::string_view path);        // "--http-body-max"
std::string variable_of(std::string_view path);    // "BATON_HTTP_BODY_MAX"
bool is_switch(const Setting& setting);            // true if the flag needs no value: yes or no
std::string default_text(const Setting& setting);  // in the syntax of the command line

// Both set a value and return nullopt, or change nothing and return the error ("must be between 0 and
// 65535").
std::optional<std::string> set_from_text(Config& config, const Setting& setting, std::string_view text);
std::optional<std::string> set_from_json(Config& config, const Setting& setting, json::Value value);

}  // namespace baton::app
