#include "server/shared/request_stats.h"

#include <doctest/doctest.h>

namespace request_stats_test {

using namespace baton;

TEST_CASE(
    "RequestStats: each status that paths answer has its code, and a status that none answers is other") {
  server::RequestStats stats;
  for (const int status : {200, 201, 303, 502, 299}) stats.note(nullptr, server::Protocol::other, status, {});
  base::MetricsText out;
  stats.add_to(out);
  for (const char* code : {"200", "201", "303", "502", "other"}) {
    const std::string value =
        R"(baton_requests_total{agent="",protocol="other",code=")" + std::string(code) + "\"} 1\n";
    CHECK_MESSAGE(out.text().find(value) != std::string::npos, code);
  }
}

}  // namespace request_stats_test
