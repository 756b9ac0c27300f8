#include "base/log.h"

#include <spdlog/pattern_formatter.h>

#include "base/loggable.h"

namespace baton::base {
namespace {

const LogMembers kNoMembers;
thread_local const LogMembers* current_members = &kNoMembers;

// Writes the members of a text line, each followed by a space.
class MembersFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg&, const std::tm&, spdlog::memory_buf_t& to) override {
    for (const LogMember& member : current_log_members()) {
      to.append(member.name.data(), member.name.data() + member.name.size());
      to.push_back('=');
      to.append(member.value.data(), member.value.data() + member.value.size());
      to.push_back(' ');
    }
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<MembersFlag>();
  }
};

// Writes the message of a text line. A part of it may come from outside.
class MessageFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& entry, const std::tm&, spdlog::memory_buf_t& to) override {
    const std::string line = loggable_line({entry.payload.data(), entry.payload.size()});
    to.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<MessageFlag>();
  }
};

}  // namespace

LogMember::LogMember(std::string_view member_name, std::string_view text)
    : name(member_name), value(loggable_word(text)) {}

const LogMembers& current_log_members() {
  return *current_members;
}

LogMembersScope::LogMembersScope(const LogMembers& members) {
  current_members = &members;
}

LogMembersScope::~LogMembersScope() {
  current_members = &kNoMembers;
}

void log_agent(const LogMembers& members, std::string_view line) {
  const LogMembersScope scope(members);
  const auto own = spdlog::get(kAgentsLogger);
  (own ? own.get() : spdlog::default_logger_raw())->info("agent-stderr | {}", line);
}

std::unique_ptr<spdlog::formatter> text_log_formatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<MembersFlag>('*').add_flag<MessageFlag>('~').set_pattern(
      "%Y-%m-%d %H:%M:%S.%e %l %*%~");
  return formatter;
}

}  // namespace baton::base
