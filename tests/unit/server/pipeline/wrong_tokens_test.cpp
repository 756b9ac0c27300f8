#include "server/admission/wrong_tokens.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace wrong_tokens_test {

using namespace baton;
using server::WrongTokens;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("WrongTokens: an address with many wrong tokens is blocked for a minute, others are not") {
  WrongTokens tokens;
  const WrongTokens::Time start = WrongTokens::Time() + std::chrono::hours(1);
  for (int i = 0; i < WrongTokens::kQuickOnes; ++i)
    CHECK(tokens.noted("192.0.2.1", "", start) == milliseconds(0));
  CHECK(tokens.noted("192.0.2.1", "", start + seconds(59)) == WrongTokens::kWait);
  CHECK(tokens.noted("192.0.2.2", "", start) == milliseconds(0));
  CHECK(tokens.noted("192.0.2.1", "", start + seconds(60)) == milliseconds(0));
}

TEST_CASE("WrongTokens: addresses of one IPv6 network count as one") {
  WrongTokens tokens;
  const WrongTokens::Time now = WrongTokens::Time() + std::chrono::hours(1);
  for (int i = 0; i < WrongTokens::kQuickOnes; ++i)
    CHECK(tokens.noted("2001:db8::" + std::to_string(i), "", now) == milliseconds(0));
  CHECK(tokens.noted("2001:db8:0:0:ffff::1", "", now) == WrongTokens::kWait);
  CHECK(tokens.noted("2001:db8:0:1::1", "", now) == milliseconds(0));
}

TEST_CASE("WrongTokens: a client with many networks gets so many lines a minute, and each keeps its delay") {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  WrongTokens tokens;
  const WrongTokens::Time now = WrongTokens::Time() + std::chrono::hours(1);
  constexpr int kMost = server::LineLimit::kLinesMax;
  for (int i = 0; i < kMost + 5; ++i) {
    const std::string address = "2001:db8:0:" + std::to_string(i) + "::1";
    for (int tries = 0; tries < WrongTokens::kQuickOnes; ++tries)
      CHECK(tokens.noted(address, "", now) == milliseconds(0));
    CHECK(tokens.noted(address, "", now) == WrongTokens::kWait);
  }
  spdlog::set_default_logger(before);
  const std::string logged = text.str();
  CHECK(std::ranges::count(logged, '\n') == kMost);
}

}  // namespace wrong_tokens_test
