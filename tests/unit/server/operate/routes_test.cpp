#include "server/operate/routes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/embedded.h"
#include "server/operate/rows.h"
#include "server/shared/path_table.h"

namespace routes_test {

using namespace baton;

TEST_CASE("Routes: exactly the routes of the API description are served") {
  const auto description = json::Document::parse_view(base::embedded_file("operate.openapi.json"));
  REQUIRE(description);
  std::set<std::string> described;
  for (const json::Value path : description->root()["paths"]) {
    for (const json::Value operation : path) {
      std::string method(operation.key());
      std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::toupper(c); });
      described.insert(method + " " + std::string(path.key()));
    }
  }
  const auto routes = server::operate::all_routes();
  CHECK(std::set(routes.begin(), routes.end()) == described);
}

TEST_CASE("Routes: the API is at /operate and below it alone") {
  const auto serves = [](std::string_view path) {
    return server::find_path(server::paths_at(server::Place::operators), "GET", path)
        .is(server::Stage::operator_api);
  };
  CHECK(serves("/operate"));
  CHECK(serves("/operate/v1/tasks"));
  CHECK(serves("/operate/"));
  CHECK(serves("/operate/%"));
  CHECK_FALSE(serves("/operated"));
  CHECK_FALSE(serves("/"));
}

TEST_CASE("Rows: viewers see a webhook's URL without user info and query") {
  const server::Operator viewer{"vera", false}, otto{"otto", true};
  const char* url = "https://user:secret@host.example:8443/a/b@c?key=secret#x";
  CHECK(server::operate::shown_url(url, viewer) == "https://host.example:8443/a/b@c");
  CHECK(server::operate::shown_url(url, otto) == url);
  CHECK(server::operate::shown_url("https://host?x@y", viewer) == "https://host");
  CHECK(server::operate::shown_url("https://host/p", viewer) == "https://host/p");
}

}  // namespace routes_test
