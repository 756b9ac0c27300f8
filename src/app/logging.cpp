#include "app/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/exception_report.h"
#include "base/log.h"
#include "base/loggable.h"
#include "base/text.h"
#include "json/writer.h"
#include "task/short_id.h"

namespace baton::app {
namespace {

// The members that log calls in the older style put at the beginning of their text.
constexpr std::array<std::string_view, 10> kFacts{"task",   "context", "agent", "worker", "attempt",
                                                  "caller", "config",  "event", "trace",  "address"};

// Passes on the members at the beginning of a text, and removes them from the text.
template <class OnFact>
void take_leading_facts(std::string_view& text, OnFact&& on_fact) {
  while (true) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view name = word.substr(0, equals);
    if (std::find(kFacts.begin(), kFacts.end(), name) == kFacts.end()) return;
    on_fact(name, word.substr(equals + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& entry, spdlog::memory_buf_t& to) override {
    const auto at = std::chrono::time_point_cast<base::Duration>(entry.time);
    const auto level = spdlog::level::to_string_view(entry.level);
    std::string_view text(entry.payload.data(), entry.payload.size());
    std::string line;
    json::Writer out(line);
    out.object([&] {
      out.member("time", base::to_rfc3339(at)).member("level", std::string_view(level.data(), level.size()));
      for (const base::LogMember& member : base::current_log_members()) out.member(member.name, member.value);
      if (base::current_log_members().empty())
        take_leading_facts(text,
                           [&](std::string_view name, std::string_view value) { out.member(name, value); });
      out.member("message", base::replaced_utf8(text));
    });
    line += '\n';
    to.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

constexpr std::string_view kReset = "\x1b[0m", kDim = "\x1b[2m", kYellow = "\x1b[33m", kRed = "\x1b[31m";

class TerminalFormatter final : public spdlog::formatter {
 public:
  explicit TerminalFormatter(bool in_colour) : in_colour_(in_colour) {}

  void format(const spdlog::details::log_msg& entry, spdlog::memory_buf_t& to) override {
    std::string agent = "baton", task;
    const auto take = [&](std::string_view name, std::string_view value) {
      if (name == "agent") agent = value;
      if (name == "task") task = task::short_id(value);
    };
    std::string_view text(entry.payload.data(), entry.payload.size());
    for (const base::LogMember& member : base::current_log_members()) take(member.name, member.value);
    if (base::current_log_members().empty()) take_leading_facts(text, take);
    const bool is_bad = entry.level >= spdlog::level::warn;
    const std::string time =
        base::to_rfc3339(std::chrono::time_point_cast<base::Duration>(entry.time)).substr(11, 8);
    std::string line = styled(kDim, time) + " " + styled(style_of(agent), agent) + " " + styled(kDim, task);
    if (!task.empty()) line += ' ';
    if (is_bad) {
      line += styled(entry.level == spdlog::level::warn ? kYellow : kRed,
                     entry.level == spdlog::level::warn ? "warning: " : "error: ");
    }
    constexpr std::string_view kFromAgent = "agent-stderr ";
    if (text.starts_with(kFromAgent)) text.remove_prefix(kFromAgent.size());
    for (const std::string_view bad : {"failed", "rejected"}) {
      if (is_bad || !text.starts_with(bad)) continue;
      line += styled(kRed, bad);
      text.remove_prefix(bad.size());
    }
    line.append(base::loggable_line(text)).append("\n");
    to.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<TerminalFormatter>(in_colour_);
  }

 private:
  std::string styled(std::string_view style, std::string_view text) const {
    if (!in_colour_ || text.empty()) return std::string(text);
    return std::string(style) + std::string(text) + std::string(kReset);
  }
  // Derives one of five colours from the agent's name.
  static std::string style_of(const std::string& agent) {
    constexpr std::array<int, 5> kColours{32, 34, 35, 36, 94};
    if (agent == "baton") return std::string(kDim);
    return "\x1b[" + std::to_string(kColours[std::hash<std::string>{}(agent) % kColours.size()]) + "m";
  }

  const bool in_colour_;
};

void log_exception(const char* pool, const char* what) noexcept {
  try {
    spdlog::error("unexpected exception in the \"{}\" threads: {}", pool, what);
  } catch (...) {  // out of memory while logging
  }
}

}  // namespace

bool shows_colours(int file) {
  const char* const term = std::getenv("TERM");
  return ::isatty(file) == 1 && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
         std::string_view(term) != "dumb";
}

std::unique_ptr<spdlog::formatter> log_formatter(const LogOptions& options, bool in_colour) {
  if (options.format == "json") return std::make_unique<JsonFormatter>();
  if (options.format == "terminal") return std::make_unique<TerminalFormatter>(in_colour);
  return base::text_log_formatter();
}

void set_up_logging(const LogOptions& options) {
  const auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_formatter(log_formatter(options, shows_colours(STDERR_FILENO)));
  if (options.agents) spdlog::register_logger(std::make_shared<spdlog::logger>(base::kAgentsLogger, sink));
  auto logger = std::make_shared<spdlog::logger>("baton", sink);
  logger->set_level(spdlog::level::from_str(options.level));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  base::report_exceptions_to(log_exception);
}

}  // namespace baton::app
