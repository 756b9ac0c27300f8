#include "app/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/exception_report.h"
#include "base/log.h"
#include "json/writer.h"

namespace baton::app {
namespace {

// The members that older lines have at the beginning of their text.
constexpr std::array<std::string_view, 10> kFacts{"task",   "context", "agent", "worker", "attempt",
                                                  "caller", "config",  "event", "trace",  "address"};

// Writes the members that a text begins with, and takes them off it.
void write_leading_facts(json::Writer& out, std::string_view& text) {
  while (true) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view name = word.substr(0, equals);
    if (std::find(kFacts.begin(), kFacts.end(), name) == kFacts.end()) return;
    out.member(name, word.substr(equals + 1));
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
      if (base::current_log_members().empty()) write_leading_facts(out, text);
      out.member("message", text);
    });
    line += '\n';
    to.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

void log_exception(const char* pool, const char* what) noexcept {
  try {
    spdlog::error("a function of the threads \"{}\" broke: {}", pool, what);
  } catch (...) {  // no memory even for this
  }
}

}  // namespace

std::unique_ptr<spdlog::formatter> log_formatter(const LogOptions& options) {
  if (options.format == "json") return std::make_unique<JsonFormatter>();
  return base::text_log_formatter();
}

void set_up_logging(const LogOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("baton", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(log_formatter(options));
  logger->set_level(spdlog::level::from_str(options.level));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  base::report_exceptions_to(log_exception);
}

}  // namespace baton::app
