// Log lines with members: named values that tell what a line is about, in addition to its text.
//
//   base::log_warn({{"agent", name}, {"worker", slot}}, "killed: {}", why);
//
// Members reach the log only through a formatter that writes them. text_log_formatter writes them before the
// text, as "agent=echo worker=1 "; the formatter in app/logging.h writes them as members of a JSON object.
// Lines without members go to spdlog directly.
//
// Threads: any. Loggers must be synchronous: members are known only while the line is being logged.
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/spdlog.h>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::base {

struct LogMember {
  // The text is cut and escaped (loggable_word), so that it stays one word.
  LogMember(std::string_view member_name, std::string_view text);
  LogMember(std::string_view member_name, std::integral auto number)
      : name(member_name), value(std::to_string(number)) {}

  std::string_view name;  // a literal
  std::string value;
};
using LogMembers = std::vector<LogMember>;

// The members of the line that this thread is logging; empty if there are none.
const LogMembers& current_log_members();

// Writes lines of text: time, level, members, text.
std::unique_ptr<spdlog::formatter> text_log_formatter();

// Makes members current while the scope exists. The members must outlive it.
class LogMembersScope {
 public:
  explicit LogMembersScope(const LogMembers& members);
  ~LogMembersScope();
  LogMembersScope(const LogMembersScope&) = delete;
  LogMembersScope& operator=(const LogMembersScope&) = delete;
};

template <class... Args>
void log(spdlog::level::level_enum level, const LogMembers& members, spdlog::format_string_t<Args...> text,
         Args&&... args) {
  const LogMembersScope scope(members);
  spdlog::log(level, text, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(const LogMembers& members, spdlog::format_string_t<Args...> text, Args&&... args) {
  log(spdlog::level::info, members, text, std::forward<Args>(args)...);
}
// Logs a line that an agent wrote, at level info. It goes to the logger `kAgentsLogger` if there is one.
inline constexpr const char* kAgentsLogger = "agents";
void log_agent(const LogMembers& members, std::string_view line);
template <class... Args>
void log_warn(const LogMembers& members, spdlog::format_string_t<Args...> text, Args&&... args) {
  log(spdlog::level::warn, members, text, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(const LogMembers& members, spdlog::format_string_t<Args...> text, Args&&... args) {
  log(spdlog::level::err, members, text, std::forward<Args>(args)...);
}

}  // namespace baton::base
