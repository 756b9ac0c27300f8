#include "server/admission/refusal_log.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>
#include <string>

namespace refusal_log_test {

using namespace baton;
using std::chrono::seconds;

TEST_CASE("RefusalLog: an address gets one line per reason and minute") {
  server::RefusalLog log;
  const auto at = [](int second) { return server::RefusalLog::Time(seconds(1'000 + second)); };
  CHECK(log.record("192.0.2.1", "no token", at(0)));
  CHECK_FALSE(log.record("192.0.2.1", "no token", at(59)));
  CHECK(log.record("192.0.2.1", "wrong host", at(59)));
  CHECK(log.record("192.0.2.2", "no token", at(59)));
  CHECK(log.record("192.0.2.1", "no token", at(60)));
}

TEST_CASE("RefusalLog: during a flood from many addresses old entries are dropped") {
  const auto at = [](int second) { return server::RefusalLog::Time(seconds(1'000 + second)); };
  for (const bool is_flooded : {false, true}) {
    CAPTURE(is_flooded);
    server::RefusalLog log;
    CHECK(log.record("192.0.2.9", "no token", at(0)));  // the minute of all addresses begins
    CHECK(log.record("192.0.2.1", "no token", at(30)));
    for (std::size_t i = 0; is_flooded && i < server::RefusalLog::kPlacesMax; ++i) {
      log.record("10." + std::to_string(i / 65'536) + "." + std::to_string(i / 256 % 256) + "." +
                     std::to_string(i % 256),
                 "no token", at(30));
    }
    // Its own minute is not over.
    CHECK(log.record("192.0.2.1", "no token", at(60)) == is_flooded);
  }
}

TEST_CASE(
    "RefusalLog: a client with many networks gets so many lines a minute, and one that counts the others") {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  constexpr int kMost = server::LineLimit::kLinesMax;
  server::RefusalLog log;
  const auto lines_in_minute = [&](int minute) {
    int lines = 0;
    for (int i = 0; i < kMost + 5; ++i) {
      const std::string address = "2001:db8:0:" + std::to_string(1'000 * (minute + 1) + i) + "::1";
      lines += log.record(address, "no token", server::RefusalLog::Time(std::chrono::minutes(100 + minute)));
    }
    return lines;
  };
  CHECK(lines_in_minute(0) == kMost);
  // The other kinds are still heard of.
  CHECK(log.record("2001:db8::1", "no host", server::RefusalLog::Time(std::chrono::minutes(100))));
  CHECK(text.str().find("left out") == std::string::npos);
  CHECK(lines_in_minute(1) == kMost);
  spdlog::set_default_logger(before);
  const std::string logged = text.str();
  const std::size_t first = logged.find("refused: no token; 5 lines were left out");
  CHECK(first != std::string::npos);
  CHECK(logged.find("left out", first + 40) == std::string::npos);
}

}  // namespace refusal_log_test
