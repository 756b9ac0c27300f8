#include "server/admission/refusal_log.h"

#include <doctest/doctest.h>

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
  server::RefusalLog log;
  const server::RefusalLog::Time now(seconds(1'000));
  CHECK(log.record("192.0.2.1", "no token", now));
  for (std::size_t i = 0; i < server::RefusalLog::kPlacesMax; ++i) {
    log.record("10." + std::to_string(i / 65'536) + "." + std::to_string(i / 256 % 256) + "." +
                   std::to_string(i % 256),
               "no token", now);
  }
  CHECK(log.record("192.0.2.1", "no token", now));
}

}  // namespace refusal_log_test
