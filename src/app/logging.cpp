#include "app/logging.h"

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/exception_report.h"
#include "wire/json/writer.h"

namespace baton::app {
namespace {

constexpr std::array<std::string_view, 10> kFacts{"task",   "context", "agent", "worker", "attempt",
                                                  "caller", "config",  "event", "trace",  "address"};

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto at = std::chrono::time_point_cast<base::Duration>(message.time);
    const auto level = spdlog::level::to_string_view(message.level);
    const std::string line = json_log_line(base::to_rfc3339(at), std::string(level.data(), level.size()),
                                           std::string(message.payload.data(), message.payload.size()));
    out.append(line.data(), line.data() + line.size());
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

std::string json_log_line(const std::string& time, const std::string& level, const std::string& message) {
  std::string line;
  wire::Writer out(line);
  out.object([&] {
    out.member("time", time).member("level", level);
    std::string_view rest = message;
    while (true) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string_view word = rest.substr(0, end);
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) break;
      const std::string_view name = word.substr(0, equals);
      if (std::find(kFacts.begin(), kFacts.end(), name) == kFacts.end()) break;
      out.member(name, word.substr(equals + 1));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    out.member("message", rest);
  });
  line += '\n';
  return line;
}

void set_up_logging(const LogOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("baton", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (options.format == "json") {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  }
  logger->set_level(spdlog::level::from_str(options.level));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  base::report_exceptions_to(log_exception);
}

}  // namespace baton::app
