#include "server/http/recent_heads.h"

#include <doctest/doctest.h>

#include <string>

namespace recent_heads_test {

using baton::server::http::RecentHeads;
using baton::server::http::Request;

namespace {

RecentHeads::RequestPtr request_to(const std::string& path) {
  Request request;
  request.path = path;
  return std::make_shared<const Request>(request);
}

}  // namespace

TEST_CASE("RecentHeads: only the very same text is known") {
  RecentHeads heads;
  CHECK(heads.find("") == nullptr);
  heads.add("GET /a", request_to("/a"));
  REQUIRE(heads.find("GET /a"));
  CHECK(heads.find("GET /a")->path == "/a");
  CHECK(heads.find("GET /A") == nullptr);
  CHECK(heads.find("GET /a ") == nullptr);
}

TEST_CASE("RecentHeads: however many come, only some are kept, and none that is long") {
  RecentHeads heads;
  const auto watched = request_to("/watched");
  for (int i = 0; i < 10'000; ++i) heads.add("GET /" + std::to_string(i), watched);
  CHECK(watched.use_count() <= 65);
  CHECK(heads.find("GET /9999") == watched);
  const std::string longer(3'000, 'x');
  heads.add(longer, request_to("/long"));
  CHECK(heads.find(longer) == nullptr);
}

}  // namespace recent_heads_test
